import { networkInterfaces } from 'node:os';
import type { Finding } from '../../domain/doctor.ts';
import { isPlainHttp } from '../../wire/loopback.ts';
import { ok, warning } from './check.ts';

const risk = 'so tokens and pages cross the network unencrypted.';
const proxy = 'Put a proxy with TLS in front, and set VOLLEY_DASHBOARD_URL to its https: address';

/**
 * Says how tokens and sessions may cross the network unencrypted.
 *
 * @param publicUrl VOLLEY_DASHBOARD_URL
 * @param address where other machines reach the API, if they do
 * @returns undefined when they do not, or a proxy adds TLS
 */
export function describeUnencrypted(
  publicUrl: URL | undefined,
  address: string | undefined,
): { readonly found: string; readonly nextStep: string } | undefined {
  if (publicUrl && isPlainHttp(publicUrl))
    return { found: `VOLLEY_DASHBOARD_URL is http:, ${risk}`, nextStep: `${proxy}.` };
  if (address === undefined || publicUrl?.protocol === 'https:') return undefined;
  return {
    found: `Other machines reach the API at ${address} without TLS, ${risk}`,
    nextStep: `${proxy}; or omit --api-host.`,
  };
}

/**
 * Asks the API at the addresses of this machine that others reach, because only `volley serve` knows its --api-host.
 *
 * @param written VOLLEY_DASHBOARD_URL
 */
export async function checkDashboard(written: string | undefined, port: number): Promise<Finding> {
  const url = (written && URL.parse(written)) || undefined;
  const address = url?.protocol === 'https:' ? undefined : await findOpenApi(port);
  const unencrypted = describeUnencrypted(url, address);
  if (unencrypted) return warning(unencrypted.found, unencrypted.nextStep);
  return ok(
    url
      ? `Browsers reach it at ${url.origin}.`
      : `No API answers other machines at port ${port} of this machine.`,
  );
}

/** @returns the first address where the API answers, with its port */
async function findOpenApi(port: number): Promise<string | undefined> {
  const hosts = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses
      // An address of one link only needs its name too.
      .filter((each) => !each.internal && !(each.family === 'IPv6' && each.scopeid > 0))
      .map(({ family, address }) => (family === 'IPv6' ? `[${address}]` : address)),
  );
  const asked = await Promise.all(
    hosts.map(async (host) => ((await answersApi(`http://${host}:${port}`)) ? `${host}:${port}` : undefined)),
  );
  return asked.find((address) => address !== undefined);
}

/** Milliseconds. */
const answerTimeout = 2_000;

/** Whether Volley's API asks for a token there. */
async function answersApi(origin: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerTimeout);
    const answer = await fetch(`${origin}/api/v1/openapi.json`, { redirect: 'manual', signal });
    await answer.body?.cancel();
    return (
      answer.status === 401 && /^Bearer realm="volley"/.test(answer.headers.get('www-authenticate') ?? '')
    );
  } catch {
    return false;
  }
}
