import { openGateway } from '../../gateway/gateway.ts';
import type { InconclusiveLookUp } from '../../gateway/look-up.ts';
import type { EngineContext } from '../context.ts';
import { createRateLimiter } from '../dispatch/rate-limiter.ts';
import { loadAccount } from '../load-account.ts';
import type { Settings } from '../settings.ts';
import { applyInbox } from './apply-inbox.ts';
import { type PollCounts, type PollEnd, pollReports } from './poll.ts';
import { loadDeliveryReportRules } from './receiver-accounts.ts';

export type PolledRun = { readonly run: string; readonly account: string };

type PollOptions = {
  readonly stop: AbortSignal;
  readonly onUnclear: (messageId: string, answer: InconclusiveLookUp) => void;
  readonly onCount?: (counts: PollCounts) => void;
};

/**
 * Asks the service about the missing delivery reports of a run, and applies what it answers.
 *
 * @throws InputError if the account is invalid or has no status look-up
 */
export async function pollRun(
  context: EngineContext,
  settings: Settings,
  { run, account: name }: PolledRun,
  { stop, onUnclear, onCount }: PollOptions,
): Promise<PollEnd> {
  const rules = await loadDeliveryReportRules(settings);
  const account = await loadAccount(name, settings);
  const gateway = openGateway(account);
  try {
    const rate = createRateLimiter(context, account);
    const work = { account, gateway, rate, run, acceptedWithin: context.now().getTime() };
    return await pollReports(context, work, stop, { onUnclear, onCount });
  } finally {
    await applyInbox(context, rules);
    await gateway.close();
  }
}
