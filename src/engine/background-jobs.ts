import { InputError } from '../domain/problems.ts';
import { errorMessage } from '../platform/file-error.ts';
import type { EngineContext } from './context.ts';

/** `failed`: asking ended with an error; what it found before is kept. */
type JobState = 'asking' | 'finished' | 'stopped' | 'refused' | 'failed';

/** The service is being asked about a run in the background, or was. */
export type BackgroundJob<Counts> = Counts & {
  readonly startedAt: Date;
  readonly state: JobState;
  /** What the service or the error said. */
  readonly words: string | null;
};

export type BackgroundJobs<Subject extends { readonly run: string }, Counts> = ReturnType<
  typeof createBackgroundJobs<Subject, Counts>
>;

type Questions<Subject, Counts> = {
  readonly noneCounted: Counts;
  /** @throws InputError if the service cannot be asked */
  readonly requireAskable: (context: EngineContext, subject: Subject) => Promise<void>;
  readonly ask: (
    context: EngineContext,
    subject: Subject,
    progress: { readonly stop: AbortSignal; readonly onCount: (counts: Counts) => void },
  ) => Promise<
    | { readonly kind: 'finished' | 'stopped' }
    | { readonly kind: 'refused'; readonly words: readonly string[] }
  >;
};

/** The jobs of a process, one for a run. One that ends with its process loses nothing: each answer is kept when it comes. */
export function createBackgroundJobs<Subject extends { readonly run: string }, Counts>({
  noneCounted,
  requireAskable,
  ask,
}: Questions<Subject, Counts>) {
  const jobs = new Map<string, BackgroundJob<Counts>>();
  const running = new Map<string, Promise<void>>();
  const stop = new AbortController();

  async function work(context: EngineContext, subject: Subject): Promise<void> {
    const startedAt = context.now();
    let counts = noneCounted;
    const note = (state: JobState, words: string | null = null): void => {
      jobs.set(subject.run, { ...counts, startedAt, state, words });
    };
    const onCount = (latest: Counts): void => {
      counts = latest;
      note('asking');
    };
    note('asking');
    try {
      const end = await ask(context, subject, { stop: stop.signal, onCount });
      note(end.kind, end.kind === 'refused' ? end.words.join('; ') : null);
    } catch (error) {
      note('failed', errorMessage(error));
    }
  }

  return {
    /**
     * Begins to ask, and returns at once.
     *
     * @throws InputError if the service cannot be asked, or is being asked about the run already
     */
    start: async (context: EngineContext, subject: Subject): Promise<void> => {
      const { run } = subject;
      await requireAskable(context, subject);
      if (running.has(run)) {
        const what = 'The service is being asked about this run already. Wait until that ends.';
        throw new InputError([{ where: `run ${run}`, what }]);
      }
      running.set(
        run,
        work(context, subject).finally(() => running.delete(run)),
      );
    },
    /** The last one of this process. */
    of: (run: string) => jobs.get(run),
    close: async (): Promise<void> => {
      stop.abort();
      await Promise.all(running.values());
    },
  };
}
