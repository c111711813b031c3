import type { InconclusiveLookUp } from '../../gateway/look-up.ts';
import { type BackgroundJob, type BackgroundJobs, createBackgroundJobs } from '../background-jobs.ts';
import type { EngineContext } from '../context.ts';
import { requireLookUp, withLookUp } from '../dispatch/look-up-doubts.ts';
import { loadAccount } from '../load-definition.ts';
import type { Settings } from '../settings.ts';
import { applyInbox } from './apply-inbox.ts';
import { type PollCounts, type PollEnd, pollReports } from './poll.ts';
import { loadDeliveryReportRules } from './receiver-accounts.ts';

type PolledRun = { readonly run: string; readonly account: string };

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
  try {
    return await withLookUp(context, account, (service) => {
      const work = { ...service, run, acceptedWithin: context.now().getTime() };
      return pollReports(context, work, stop, { onUnclear, onCount });
    });
  } finally {
    await applyInbox(context, rules);
  }
}

/** The service is being asked about the missing delivery reports of a run, or was. */
export type PollJob = BackgroundJob<PollCounts>;

export type PollJobs = BackgroundJobs<PolledRun, PollCounts>;

/** @throws InputError if the account is invalid or has no status look-up */
export async function requirePolling(settings: Settings, account: string): Promise<void> {
  requireLookUp(await loadAccount(account, settings));
}

export function createPollJobs(settings: Settings): PollJobs {
  return createBackgroundJobs<PolledRun, PollCounts>({
    noneCounted: { asked: 0, reports: 0, unclear: 0 },
    requireAskable: (_, { account }) => requirePolling(settings, account),
    ask: (context, polled, progress) =>
      pollRun(context, settings, polled, { ...progress, onUnclear: () => undefined }),
  });
}
