import { type BackgroundJob, type BackgroundJobs, createBackgroundJobs } from '../background-jobs.ts';
import type { EngineContext } from '../context.ts';
import {
  type LookUpCounts,
  type LookUpEnd,
  type LookUpOptions,
  type LookUpService,
  lookUpRequests,
  noneLookedUp,
  requireLookUp,
  withLookUp,
} from '../dispatch/look-up-doubts.ts';
import { loadAccount } from '../load-definition.ts';
import type { Settings } from '../settings.ts';
import { requireRun } from './find-run.ts';
import { listNamedDoubts, type NamedRequests } from './resolve-doubts.ts';

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
  return withLookUp(context, account, async (service) => {
    return { end: await lookUpDoubts(context, service, requests, options), account: name };
  });
}

/**
 * Records which requests the service has.
 *
 * @throws InputError as `listNamedDoubts`, and without a status look-up
 */
export async function lookUpDoubts(
  context: EngineContext,
  service: LookUpService,
  requests: NamedRequests,
  options: LookUpOptions,
): Promise<LookUpEnd> {
  const doubts = { run: requests.run, pages: await listNamedDoubts(context, requests) };
  return lookUpRequests(context, service, doubts, options);
}

/** The service is being asked about requests in doubt, or was. */
export type LookUpJob = BackgroundJob<LookUpCounts>;

/** At most one request is asked about in a second. */
export type LookUpJobs = BackgroundJobs<NamedRequests, LookUpCounts>;

export function createLookUpJobs(settings: Settings): LookUpJobs {
  return createBackgroundJobs<NamedRequests, LookUpCounts>({
    noneCounted: noneLookedUp,
    requireAskable: async (context, requests) => {
      await requireLookUpOfRun(context, settings, requests.run);
      // Refuses requests that are not in doubt before the first question.
      await listNamedDoubts(context, requests);
    },
    ask: async (context, requests, { stop, onCount }) => {
      const onAnswer: LookUpOptions['onAnswer'] = (_, __, counts) => onCount(counts);
      return (await askAboutDoubts(context, settings, requests, { stop, onAnswer })).end;
    },
  });
}
