import type { FastifyRequest } from 'fastify';
import type { ReceivedCall } from '../ledger/delivery-reports/receive.ts';

/** A call as it came, without its signature. */
export type UncheckedCall = Omit<ReceivedCall, 'signature'> & { readonly method: 'GET' | 'POST' };

/** Headers that can contain a credential are not stored. */
const secretHeaders = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
  'x-auth-token',
]);

export function toReceivedCall(request: FastifyRequest, account: string, receivedAt: Date): UncheckedCall {
  const headers = storedHeaders(request.raw.rawHeaders);
  return {
    account,
    receivedAt,
    method: request.method === 'GET' ? 'GET' : 'POST',
    contentType: headers['content-type'] ?? '',
    headers,
    body: request.method === 'GET' ? queryOf(request.raw.url ?? '') : bodyOf(request.body),
  };
}

/** Keeps both values of a repeated header; Node drops some. */
function storedHeaders(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase();
    const value = rawHeaders[index + 1] ?? '';
    const earlier = headers[name];
    if (!secretHeaders.has(name)) headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return headers;
}

/** Node reads the request line as Latin-1, one character a byte. */
function queryOf(url: string): Buffer {
  const start = url.indexOf('?');
  return Buffer.from(start === -1 ? '' : url.slice(start + 1), 'latin1');
}

function bodyOf(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}
