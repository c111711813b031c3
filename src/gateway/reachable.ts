import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { describeError } from './evidence.ts';

export type Reachability =
  | { readonly kind: 'reachable' }
  | { readonly kind: 'unreachable'; readonly why: string };

/**
 * Opens and closes a connection (with TLS if the address has it), without HTTP.
 *
 * @param timeout milliseconds
 */
export function checkReachable(url: URL, timeout: number): Promise<Reachability> {
  return new Promise((resolve) => {
    const { socket, readyEvent } = open(url);
    const settle = (reachability: Reachability): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve(reachability);
    };
    const deadline = setTimeout(
      () => settle({ kind: 'unreachable', why: `no connection within ${timeout} ms` }),
      timeout,
    );
    socket.once(readyEvent, () => settle({ kind: 'reachable' }));
    socket.on('error', (error) => settle({ kind: 'unreachable', why: describeError(error) }));
    socket.once('close', () => settle({ kind: 'unreachable', why: 'connection closed' }));
  });
}

function open(url: URL): { socket: Socket; readyEvent: 'connect' | 'secureConnect' } {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:') {
    return { socket: connectPlain(Number(url.port || 80), host), readyEvent: 'connect' };
  }
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const options = { host, port: Number(url.port || 443), ALPNProtocols: ['http/1.1'], ...servername };
  return { socket: connectSecurely(options), readyEvent: 'secureConnect' };
}
