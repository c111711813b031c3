import { openGateway } from '../../gateway/gateway.ts';
import type { EngineContext } from '../context.ts';
import { type LookUpEnd, type LookUpOptions, requireLookUp } from '../dispatch/look-up-doubts.ts';
import { createRateLimiter } from '../dispatch/rate-limiter.ts';
import { loadAccount } from '../load-account.ts';
import type { Settings } from '../settings.ts';
import { requireRun } from './find-run.ts';
import { lookUpDoubts, type NamedRequests } from './resolve-doubts.ts';

/** @throws InputError if the run is missing, or its account is invalid or has no status look-up */
export async function requireLookUpOfRun(
  context: EngineContext,
  settings: Settings,
  run: string,
): Promise<void> {
  const { account } = await requireRun(context, run);
  requireLookUp(await loadAccount(account, settings));
}

/**
 * Asks the service about requests in doubt, at most one a second.
 *
 * @returns what it answered, and the account that asked
 * @throws InputError as `lookUpDoubts`
 */
export async function askAboutDoubts(
  context: EngineContext,
  settings: Settings,
  requests: NamedRequests,
  options: LookUpOptions,
): Promise<{ readonly end: LookUpEnd; readonly account: string }> {
  const { account: name } = await requireRun(context, requests.run);
  const account = await loadAccount(name, settings);
  const gateway = openGateway(account);
  try {
    const service = { account, gateway, rate: createRateLimiter(context, account) };
    return { end: await lookUpDoubts(context, service, requests, options), account: name };
  } finally {
    await gateway.close();
  }
}
