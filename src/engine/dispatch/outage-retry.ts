import pRetry from 'p-retry';
import type { Ledger } from '../../ledger/connection.ts';
import { isConnectionFailure } from '../../platform/database-failures.ts';

export type OutageRetry = {
  /**
   * Does a piece of work in the ledger, again and again for as long as the database is away; so it must be safe to do
   * twice, also when the first time was committed and nobody heard of it. Rejects with the failure of the database when
   * patience ends, even if the database holds the work up without an answer.
   *
   * @param stop ends the work early; that it then succeeds says nothing of the database
   */
  readonly retry: <Result>(work: () => Promise<Result>, stop?: AbortSignal) => Promise<Result>;
  /** As `persist`, for a question that is answered at once: while there is no answer, the database is away. */
  readonly query: <Result>(question: () => Promise<Result>) => Promise<Result>;
  readonly isDown: () => boolean;
  /** Resolves at once while the database is there, else when it is back, or when stopped. */
  readonly waitUntilUp: (stop: AbortSignal) => Promise<void>;
};

export type OutageEvents = {
  /** The database is away; told once, until it is back. Again where it cannot be brought back, with why. */
  readonly onDown: (error: Error) => void;
  readonly onUp: () => void;
};

const minWait = 100;
const maxWait = 2_000;

/**
 * After so long without an answer the database is said to be away; and after so long, connections are given up, since the
 * other end may be gone without a word. The system itself would wait for a quarter of an hour. Milliseconds.
 */
const answerTimeout = 5_000;
const dropConnectionsAfter = 30_000;

export function createOutageRetry(
  { onDown, onUp }: OutageEvents,
  { revive, dropConnections }: Pick<Ledger, 'revive' | 'dropConnections'>,
  end: AbortSignal,
): OutageRetry {
  let outage: PromiseWithResolvers<void> | undefined;
  // What was begun before the database went away, or before it came back, says nothing of how it is now.
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

  const markUp = (): void => {
    if (!outage) return;
    outage.resolve();
    outage = undefined;
    generation++;
    lastFailure = undefined;
    reviveFailure = undefined;
    onUp();
  };

  const reviveOnce = (failure: Error): Promise<void> => {
    reviving ??= revive(() => markDown(failure))
      .catch((error: unknown) => {
        if (!(error instanceof Error) || error.message === reviveFailure) return;
        reviveFailure = error.message;
        if (outage) onDown(error);
        else markDown(error);
      })
      .finally(() => {
        reviving = undefined;
      });
    return reviving;
  };

  const retry: OutageRetry['retry'] = async (work, stop) => {
    let startGeneration = generation;
    let failed = false;
    const attempts = pRetry(
      () => {
        startGeneration = generation;
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
          lastFailure = error;
          if (startGeneration !== generation) return;
          // One broken connection says nothing yet: the next try has another.
          if (attemptNumber > 1) markDown(error);
          await reviveOnce(error);
        },
      },
    );
    const result = await rejectOnAbort(attempts, end).catch((error: unknown) => {
      throw end.aborted ? (lastFailure ?? error) : error;
    });
    // What succeeds at once may not have needed the database.
    if (failed && startGeneration === generation && !stop?.aborted) markUp();
    return result;
  };

  return {
    retry,
    isDown: () => outage !== undefined,
    async query(question) {
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        markDown(new Error(`no answer for ${answerTimeout / 1000} s`));
      }, answerTimeout);
      const dropTimer = setInterval(dropConnections, dropConnectionsAfter);
      try {
        const result = await retry(question);
        if (timedOut) markUp();
        return result;
      } finally {
        clearTimeout(timer);
        clearInterval(dropTimer);
      }
    },
    async waitUntilUp(stop) {
      if (outage && !stop.aborted) await resolveOnAbort(outage.promise, stop);
    },
  };
}

/** @throws the signal's reason, as soon as it is aborted */
function rejectOnAbort<Result>(work: Promise<Result>, end: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onEnd = (): void => reject(end.reason);
    end.addEventListener('abort', onEnd, { once: true });
    work.then(resolve, reject).finally(() => end.removeEventListener('abort', onEnd));
  });
}

function resolveOnAbort(work: Promise<void>, stop: AbortSignal): Promise<void> {
  return rejectOnAbort(work, stop).catch(() => undefined);
}

/** What passes by itself: the database is away, or a transaction was undone because of another one. */
function isTransient(error: unknown): error is Error {
  return isOutage(error) || /^(40P01|40001)$/.test(codeOf(error));
}

/**
 * A lost connection, also one that Postgres ended because we were silent for too long in a transaction; or a server that
 * cannot work as it is: without room, memory or connections (class 53), or a stand-by that only reads.
 */
function isOutage(error: unknown): error is Error {
  return isConnectionFailure(error) || /^(53...|25006|25P03)$/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
