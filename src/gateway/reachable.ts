import { once } from 'node:events';
import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { Client } from 'undici';
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
export async function checkReachable(url: URL, timeout: number): Promise<Reachability> {
  const signal = AbortSignal.timeout(timeout);
  const { socket, readyEvent, certificateUntil } = open(url);
  try {
    await once(socket, readyEvent, { signal });
    return { kind: 'reachable', ...certificateUntil() };
  } catch (error) {
    const why = signal.aborted ? `no connection within ${timeout} ms` : describeError(error);
    return { kind: 'unreachable', why };
  } finally {
    socket.destroy();
  }
}

function open(url: URL) {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'https:') {
    const socket = connectPlain(Number(url.port || 80), host);
    return { socket, readyEvent: 'connect', certificateUntil: () => ({}) } as const;
  }
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const options = { host, port: Number(url.port || 443), ALPNProtocols: ['http/1.1'], ...servername };
  const socket = connectSecurely(options);
  const certificateUntil = (): { certificateUntil: Date } => ({
    certificateUntil: new Date(socket.getPeerCertificate().valid_to),
  });
  return { socket, readyEvent: 'secureConnect', certificateUntil } as const;
}

type Health =
  | { readonly kind: 'receiver' }
  /** Something else answers there. */
  | { readonly kind: 'other'; readonly status: number }
  | { readonly kind: 'unreachable'; readonly why: string };

const maxAnswerBytes = 16 * 1024;

/**
 * Asks `/healthz` below the address, which Volley's receiver answers. Follows no redirect. Never rejects.
 *
 * @param timeout milliseconds
 */
export async function askHealth(url: URL, timeout: number): Promise<Health> {
  const signal = AbortSignal.timeout(timeout);
  const client = new Client(url.origin, { allowH2: false });
  try {
    const path = `${url.pathname.replace(/(?<!\/)\/+$/, '')}/healthz`;
    const { statusCode: status, body } = await client.request({ method: 'GET', path, signal });
    const text = (await body.text()).slice(0, maxAnswerBytes);
    return status === 200 && /^\s*\{\s*"status"\s*:\s*"ok"/.test(text)
      ? { kind: 'receiver' }
      : { kind: 'other', status };
  } catch (error) {
    return { kind: 'unreachable', why: signal.aborted ? 'no answer in time' : describeError(error) };
  } finally {
    await client.destroy().catch(() => undefined);
  }
}
