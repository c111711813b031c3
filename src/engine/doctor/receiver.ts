import { networkInterfaces } from 'node:os';
import type { Finding } from '../../domain/doctor.ts';
import { servePorts } from '../../domain/ports.ts';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { askHealth, checkReachable } from '../../gateway/reachable.ts';
import { createAddressList, isLoopbackHost, isPlainHttp } from '../../platform/address-list.ts';
import { count } from '../../platform/sentence.ts';
import { loadReceiverAccounts } from '../delivery-reports/receiver-accounts.ts';
import type { Settings } from '../settings.ts';
import { checkReachability, type LoadedAccounts, type Tools } from './accounts.ts';
import { explainInput, notChecked, ok, type Probe, problem, warning } from './check.ts';

/** Whether delivery reports can arrive. */
export function receiverProbes(
  { accounts, hasFile }: LoadedAccounts,
  { settings, now, apiPort }: Tools & { readonly apiPort: number },
): Probe[] {
  const publicUrl = settings.environment['VOLLEY_PUBLIC_URL'];
  const ask = async (): Promise<Finding> => {
    if (!publicUrl) return checkLocalReceiver();
    const url = URL.parse(publicUrl);
    if (url !== null && /^https?:$/.test(url.protocol)) return checkReceiver(url, accounts, now());
    return problem(
      'VOLLEY_PUBLIC_URL is not an address.',
      'Set it to the address at which the service reaches the receiver, such as https://hooks.example.com.',
    );
  };
  return [
    { name: 'webhook tokens', ask: () => checkTokens(settings, hasFile) },
    { name: 'receiver', ask },
    {
      name: 'dashboard',
      ask: () => checkDashboard(settings.environment['VOLLEY_DASHBOARD_URL'], apiPort),
    },
  ];
}

async function checkTokens(settings: Settings, hasFile: boolean): Promise<Finding> {
  if (!hasFile) return notChecked('The accounts file cannot be read.');
  try {
    const accounts = await loadReceiverAccounts(settings);
    return ok(`${count(accounts.size, 'account')} with a webhook token.`);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return /No account has a "webhookToken"/.test(error.message)
      ? warning(
          'No account has a webhook token, so no delivery report is received.',
          'Add `webhookToken: ${NAME}` to the account, set NAME to `openssl rand -hex 32`, and give the service the address that `volley serve` prints.',
        )
      : explainInput(error, 'Correct it: `volley serve` does not start like this.');
  }
}

const defaultReceiver = `http://127.0.0.1:${servePorts.receiver}`;

async function checkReceiver(url: URL, accounts: readonly Account[], now: Date): Promise<Finding> {
  const reached = await checkReachable(url, connectTimeout);
  const where = `${url.origin} (VOLLEY_PUBLIC_URL)`;
  if (reached.kind === 'unreachable')
    return problem(
      `${where} cannot be reached from here: ${reached.why}. No delivery report can arrive there.`,
      'Start `volley serve`, and check the proxy in front of it, its certificate and the name server.',
    );
  const health = await askHealth(url, answerTimeout);
  if (health.kind !== 'receiver')
    return problem(
      `${where} answers, but not as a receiver: ${health.kind === 'other' ? `HTTP ${health.status}` : health.why} at /healthz.`,
      'Start `volley serve`, and let the proxy forward /healthz and /webhook/ to it.',
    );
  const hasRemoteService = accounts.some(({ baseUrl }) => !isLocal(new URL(baseUrl).hostname));
  if (isLocal(url.hostname) && hasRemoteService)
    return warning(
      `${where} answers here, but no other machine reaches a local address.`,
      'If the service is not on this network, set VOLLEY_PUBLIC_URL to the public address of your proxy.',
    );
  const found = `${where} answers from here, which does not prove that it does from outside.`;
  const certificate = checkReachability(reached, now);
  if (certificate.state === 'warning')
    return warning(`${found} ${certificate.found}`, 'Renew the certificate.');
  return ok(found);
}

/** Milliseconds. */
const connectTimeout = 4_000;
const answerTimeout = 4_000;
const apiTimeout = 2_000;

async function checkLocalReceiver(): Promise<Finding> {
  const health = await askHealth(new URL(defaultReceiver), answerTimeout);
  const isRunning = health.kind === 'receiver' ? 'A receiver runs' : 'No receiver runs';
  return notChecked(
    `${isRunning} at ${defaultReceiver}. Where the service reaches it is not known, because VOLLEY_PUBLIC_URL is not set.`,
    `${health.kind === 'receiver' ? 'Set' : 'Start `volley serve`, and set'} VOLLEY_PUBLIC_URL to the address at which the service reaches it.`,
  );
}

const privateAddresses = createAddressList(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']);

function isLocal(hostname: string): boolean {
  return isLoopbackHost(hostname) || privateAddresses.has(hostname.replace(/^\[|\]$/g, ''));
}

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

/** Whether Volley's API asks for a token there. */
async function answersApi(origin: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(apiTimeout);
    const answer = await fetch(`${origin}/api/v1/openapi.json`, { redirect: 'manual', signal });
    await answer.body?.cancel();
    return (
      answer.status === 401 && /^Bearer realm="volley"/.test(answer.headers.get('www-authenticate') ?? '')
    );
  } catch {
    return false;
  }
}
