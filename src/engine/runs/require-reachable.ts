import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { checkReachable } from '../../gateway/reachable.ts';
import { isLoopbackHost } from '../../platform/address-list.ts';

/** @throws InputError when the account's service is unreachable */
export async function requireReachable({ name, baseUrl, timeouts }: Account): Promise<void> {
  const url = new URL(baseUrl);
  const reachable = await checkReachable(url, timeouts.connect);
  if (reachable.kind === 'reachable') return;
  const hint = isLoopbackHost(url.hostname) ? ' For a trial, add --sandbox, or start `volley sandbox`.' : '';
  const what = `${baseUrl} cannot be reached (${reachable.why}). Check "baseUrl" and whether the service is up.${hint}`;
  throw new InputError([{ where: `account ${name}`, what }]);
}
