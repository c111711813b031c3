import pRetry from 'p-retry';
import type { Ledger } from '../../ledger/connection.ts';
import { isConnectionFailure } from '../../platform/database-failures.ts';
import { codeOf } from '../../platform/file-error.ts';

export type OutageRetry = ReturnType<typeof createOutageRetry>;

/** Milliseconds, as all below. */
const minWait = 100;
const maxWait = 2_000;

const answerTimeout = 5_000;
/** The system itself would wait for a quarter of an hour. */
const dropConnectionsAfter = 30_000;

export function createOutageRetry(
  events: OutageEvents,
  { revive, dropConnections }: Pick<Ledger, 'revive' | 'dropConnections'>,
  end: AbortSignal,
) {
  const state = createOutageState(events, revive);
  /**
   * Repeats work in the ledger until an outage is over. Work must be safe to repeat, even after a commit whose answer
   * was lost.
   *
   * @param stop lets the work end early; then its success does not end the outage
   * @throws Error the database's failure when the process must end
   */
  const retry = <Result>(work: () => Promise<Result>, stop?: AbortSignal): Promise<Result> =>
    retryWork(state, work, end, stop);
  return {
    retry,
    isDown: state.isDown,
    /** Repeats a query that is answered quickly. Without an answer in time, the database is marked down. */
    async query<Result>(question: () => Promise<Result>): Promise<Result> {
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        state.markDown(new Error(`no answer for ${answerTimeout / 1000} s`));
      }, answerTimeout);
      const dropTimer = setInterval(dropConnections, dropConnectionsAfter);
      try {
        const result = await retry(question);
        if (timedOut) state.markUp();
        return result;
      } finally {
        clearTimeout(timer);
        clearInterval(dropTimer);
      }
    },
    async waitUntilUp(stop: AbortSignal): Promise<void> {
      if (!stop.aborted) await rejectOnAbort(state.untilUp(), stop).catch(() => undefined);
    },
  };
}

async function retryWork<Result>(
  state: OutageState,
  work: () => Promise<Result>,
  end: AbortSignal,
  stop: AbortSignal | undefined,
): Promise<Result> {
  let generation = state.generation();
  let failed = false;
  const attempts = pRetry(
    () => {
      generation = state.generation();
      return work();
    },
    {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: minWait,
      maxTimeout: maxWait,
      randomize: true,
      signal: end,
      shouldRetry: ({ error }) => isTransient(error),
      onFailedAttempt: async ({ error, attemptNumber }) => {
        if (!isOutage(error)) return;
        failed = true;
        state.recordFailure(error);
        if (generation !== state.generation()) return;
        // One broken connection is no outage.
        if (attemptNumber > 1) state.markDown(error);
        await state.revive(error);
      },
    },
  );
  const result = await rejectOnAbort(attempts, end).catch((error: unknown) => {
    throw end.aborted ? (state.lastFailure() ?? error) : error;
  });
  // Work that succeeds at once may not have used the database.
  if (failed && generation === state.generation() && !stop?.aborted) state.markUp();
  return result;
}

function rejectOnAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Whether the error is an outage, or Postgres rolled the transaction back because of another one. */
function isTransient(error: unknown): error is Error {
  return isOutage(error) || /^(40P01|40001)$/.test(codeOf(error) ?? '');
}

/**
 * Whether the connection was lost, or the server cannot work: no memory, disk or connections left (class 53), or a
 * read-only standby. 25P03: a session was idle in a transaction for too long.
 */
function isOutage(error: unknown): error is Error {
  return isConnectionFailure(error) || /^(53...|25006|25P03)$/.test(codeOf(error) ?? '');
}

export type OutageEvents = {
  /** Called for each outage, and when an embedded server cannot be started again. */
  readonly onDown: (error: Error) => void;
  readonly onUp: () => void;
};

type OutageState = ReturnType<typeof createOutageState>;

function createOutageState({ onDown, onUp }: OutageEvents, reviveLedger: Ledger['revive']) {
  let outage: PromiseWithResolvers<void> | undefined;
  /** Grows with each change. Work from an earlier generation shows nothing about the database now. */
  let generation = 0;
  let lastFailure: Error | undefined;
  let reviving: Promise<void> | undefined;
  let reviveFailure: string | undefined;

  const markDown = (error: Error): void => {
    if (outage) return;
    outage = Promise.withResolvers();
    generation++;
    lastFailure = error;
    onDown(error);
  };

  const reportReviveFailure = (error: unknown): void => {
    if (!(error instanceof Error) || error.message === reviveFailure) return;
    reviveFailure = error.message;
    if (outage) onDown(error);
    else markDown(error);
  };

  return {
    isDown: () => outage !== undefined,
    generation: () => generation,
    markDown,
    markUp(): void {
      if (!outage) return;
      outage.resolve();
      outage = undefined;
      generation++;
      lastFailure = undefined;
      reviveFailure = undefined;
      onUp();
    },
    lastFailure: () => lastFailure,
    recordFailure(error: Error): void {
      lastFailure = error;
    },
    revive(failure: Error): Promise<void> {
      reviving ??= reviveLedger(() => markDown(failure))
        .catch(reportReviveFailure)
        .finally(() => {
          reviving = undefined;
        });
      return reviving;
    },
    untilUp: (): Promise<void> => outage?.promise ?? Promise.resolve(),
  };
}
