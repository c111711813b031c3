import { InputError } from '../../domain/problems.ts';
import type { EngineContext } from '../context.ts';
import { requireLookUp } from '../dispatch/look-up-doubts.ts';
import { loadAccount } from '../load-account.ts';
import type { Settings } from '../settings.ts';
import type { PollCounts } from './poll.ts';
import { type PolledRun, pollRun } from './poll-run.ts';

/** The service is being asked about the missing delivery reports of a run, or was. */
export type PollJob = PollCounts & {
  readonly startedAt: Date;
  /** `failed`: asking ended with an error; what it found before is kept. */
  readonly state: 'asking' | 'finished' | 'stopped' | 'refused' | 'failed';
  /** Of the service or the error. */
  readonly words: string | null;
};

export type PollJobs = {
  /**
   * Begins to ask, and returns at once.
   *
   * @throws InputError if the account has no status look-up, or the service is being asked about the run already
   */
  readonly start: (context: EngineContext, polled: PolledRun) => Promise<void>;
  /** The last one of this process. */
  readonly of: (run: string) => PollJob | undefined;
  /** Stops all, and waits for their last answers. */
  readonly close: () => Promise<void>;
};

/** @throws InputError if the account is invalid or has no status look-up */
export async function requirePolling(settings: Settings, account: string): Promise<void> {
  requireLookUp(await loadAccount(account, settings));
}

/** The jobs of a process. One that ends with its process loses nothing: each answer is kept when it comes. */
export function createPollJobs(settings: Settings): PollJobs {
  const jobs = new Map<string, PollJob>();
  const running = new Map<string, Promise<void>>();
  const stop = new AbortController();

  const ask = async (context: EngineContext, polled: PolledRun): Promise<void> => {
    let counts: PollCounts = { asked: 0, reports: 0, unclear: 0 };
    const startedAt = context.now();
    const note = (state: PollJob['state'], words: string | null = null): void => {
      jobs.set(polled.run, { ...counts, startedAt, state, words });
    };
    note('asking');
    try {
      const end = await pollRun(context, settings, polled, {
        stop: stop.signal,
        onUnclear: () => undefined,
        onCount: (latest) => {
          counts = latest;
          note('asking');
        },
      });
      note(end.kind, end.kind === 'refused' ? end.words.join('; ') : null);
    } catch (error) {
      note('failed', error instanceof Error ? error.message : String(error));
    }
  };

  return {
    start: async (context, polled) => {
      await requirePolling(settings, polled.account);
      if (running.has(polled.run)) {
        const what = 'The service is being asked about this run already. Wait until that ends.';
        throw new InputError([{ where: `run ${polled.run}`, what }]);
      }
      running.set(
        polled.run,
        ask(context, polled).finally(() => running.delete(polled.run)),
      );
    },
    of: (run) => jobs.get(run),
    close: async () => {
      stop.abort();
      await Promise.all(running.values());
    },
  };
}
