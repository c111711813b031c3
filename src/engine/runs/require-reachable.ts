import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { openGateway } from '../../gateway/gateway.ts';
import { isLoopbackHost } from '../../wire/loopback.ts';

/** @throws InputError when the account's service is unreachable */
export async function requireReachable(account: Account): Promise<void> {
  const gateway = openGateway(account);
  try {
    const reachable = await gateway.checkReachable();
    if (reachable.kind === 'unreachable') {
      const hint = isLoopbackHost(new URL(account.baseUrl).hostname)
        ? ' For a trial, add --sandbox, or start `volley sandbox`.'
        : '';
      const what = `${account.baseUrl} cannot be reached (${reachable.why}). Check "baseUrl" and whether the service is up.${hint}`;
      throw new InputError([{ where: `account ${account.name}`, what }]);
    }
  } finally {
    await gateway.close();
  }
}
