import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { describeError } from './evidence.ts';

export type Reachability =
  /** `certificateUntil`: when the certificate of the service expires; absent without TLS. */
  | { readonly kind: 'reachable'; readonly certificateUntil?: Date }
  | { readonly kind: 'unreachable'; readonly why: string };

/**
 * Opens and closes a connection (with TLS if the address has it), without HTTP.
 *
 * @param timeout milliseconds
 */
export function checkReachable(url: URL, timeout: number): Promise<Reachability> {
  return new Promise((resolve) => {
    const { socket, readyEvent, certificateUntil } = open(url);
    const settle = (reachability: Reachability): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve(reachability);
    };
    const deadline = setTimeout(
      () => settle({ kind: 'unreachable', why: `no connection within ${timeout} ms` }),
      timeout,
    );
    socket.once(readyEvent, () => settle({ kind: 'reachable', ...certificateUntil() }));
    socket.on('error', (error) => settle({ kind: 'unreachable', why: describeError(error) }));
    socket.once('close', () => settle({ kind: 'unreachable', why: 'connection closed' }));
  });
}

type Opening = {
  readonly socket: Socket;
  readonly readyEvent: 'connect' | 'secureConnect';
  readonly certificateUntil: () => { readonly certificateUntil?: Date };
};

function open(url: URL): Opening {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:') {
    const socket = connectPlain(Number(url.port || 80), host);
    return { socket, readyEvent: 'connect', certificateUntil: () => ({}) };
  }
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const options = { host, port: Number(url.port || 443), ALPNProtocols: ['http/1.1'], ...servername };
  const socket = connectSecurely(options);
  const certificateUntil = (): { certificateUntil: Date } => ({
    certificateUntil: new Date(socket.getPeerCertificate().valid_to),
  });
  return { socket, readyEvent: 'secureConnect', certificateUntil };
}
