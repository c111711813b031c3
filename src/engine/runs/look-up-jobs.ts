import { InputError } from '../../domain/problems.ts';
import type { EngineContext } from '../context.ts';
import type { LookUpCounts } from '../dispatch/look-up-doubts.ts';
import type { Settings } from '../settings.ts';
import { askAboutDoubts, requireLookUpOfRun } from './ask-about-doubts.ts';
import { listNamedDoubts, type NamedRequests } from './resolve-doubts.ts';

/** The service is being asked about requests in doubt, or was. */
export type LookUpJob = LookUpCounts & {
  readonly startedAt: Date;
  /** `failed`: the look-up ended with an error; what it found before is kept. */
  readonly state: 'asking' | 'finished' | 'stopped' | 'refused' | 'failed';
  /** Of the service or the error. */
  readonly words: string | null;
};

export type LookUpJobs = {
  /**
   * Begins to ask, and returns at once: at most one request is asked about in a second.
   *
   * @throws InputError as `askAboutDoubts`, and when the service is being asked about the run already
   */
  readonly start: (context: EngineContext, requests: NamedRequests) => Promise<void>;
  /** The last one of this process. */
  readonly of: (run: string) => LookUpJob | undefined;
  /** Stops all, and waits for their last answers. */
  readonly close: () => Promise<void>;
};

/** The jobs of a process. One that ends with its process loses nothing: each answer is recorded when it comes. */
export function createLookUpJobs(settings: Settings): LookUpJobs {
  const jobs = new Map<string, LookUpJob>();
  const under = new Map<string, Promise<void>>();
  const stop = new AbortController();

  const ask = async (context: EngineContext, requests: NamedRequests): Promise<void> => {
    const { run } = requests;
    const counts = { found: 0, notFound: 0, unclear: 0 };
    const startedAt = context.now();
    const note = (state: LookUpJob['state'], words: string | null = null): void => {
      jobs.set(run, { ...counts, startedAt, state, words });
    };
    note('asking');
    try {
      const { end } = await askAboutDoubts(context, settings, requests, {
        stop: stop.signal,
        onAnswer: (_, answer) => {
          if (answer.kind === 'found') counts.found++;
          if (answer.kind === 'not_found') counts.notFound++;
          if (answer.kind === 'unclear') counts.unclear++;
          note('asking');
        },
      });
      note(end.kind, end.kind === 'refused' ? end.words.join('; ') : null);
    } catch (error) {
      note('failed', error instanceof Error ? error.message : String(error));
    }
  };

  return {
    start: async (context, requests) => {
      const { run } = requests;
      await requireLookUpOfRun(context, settings, run);
      // Refuses requests that are not in doubt before the first question.
      await listNamedDoubts(context, requests);
      if (under.has(run)) {
        const what = 'The service is being asked about this run already. Wait until that ends.';
        throw new InputError([{ where: `run ${run}`, what }]);
      }
      under.set(
        run,
        ask(context, requests).finally(() => under.delete(run)),
      );
    },
    of: (run) => jobs.get(run),
    close: async () => {
      stop.abort();
      await Promise.all(under.values());
    },
  };
}
