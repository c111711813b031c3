import { Client } from 'undici';
import { describeError } from './evidence.ts';

export type Health =
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
