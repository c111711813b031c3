import { type BackgroundJob, type BackgroundJobs, createBackgroundJobs } from '../background-jobs.ts';
import type { LookUpCounts } from '../dispatch/look-up-doubts.ts';
import type { Settings } from '../settings.ts';
import { askAboutDoubts, requireLookUpOfRun } from './ask-about-doubts.ts';
import { listNamedDoubts, type NamedRequests } from './resolve-doubts.ts';

/** The service is being asked about requests in doubt, or was. */
export type LookUpJob = BackgroundJob<LookUpCounts>;

/** At most one request is asked about in a second. */
export type LookUpJobs = BackgroundJobs<NamedRequests, LookUpCounts>;

const noneCounted = { found: 0, notFound: 0, unclear: 0 };

export function createLookUpJobs(settings: Settings): LookUpJobs {
  return createBackgroundJobs<NamedRequests, LookUpCounts>({
    noneCounted,
    requirePossible: async (context, requests) => {
      await requireLookUpOfRun(context, settings, requests.run);
      // Refuses requests that are not in doubt before the first question.
      await listNamedDoubts(context, requests);
    },
    ask: async (context, requests, { stop, onCount }) => {
      const counts = { ...noneCounted };
      const { end } = await askAboutDoubts(context, settings, requests, {
        stop,
        onAnswer: (_, answer) => {
          if (answer.kind === 'found') counts.found++;
          if (answer.kind === 'not_found') counts.notFound++;
          if (answer.kind === 'unclear') counts.unclear++;
          onCount({ ...counts });
        },
      });
      return end;
    },
  });
}
