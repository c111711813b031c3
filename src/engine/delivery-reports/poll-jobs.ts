import { type BackgroundJob, type BackgroundJobs, createBackgroundJobs } from '../background-jobs.ts';
import { requireLookUp } from '../dispatch/look-up-doubts.ts';
import { loadAccount } from '../load-account.ts';
import type { Settings } from '../settings.ts';
import type { PollCounts } from './poll.ts';
import { type PolledRun, pollRun } from './poll-run.ts';

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
    requirePossible: (_, { account }) => requirePolling(settings, account),
    ask: (context, polled, progress) =>
      pollRun(context, settings, polled, { ...progress, onUnclear: () => undefined }),
  });
}
