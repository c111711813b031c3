import pRetry from 'p-retry';
import type { Ledger } from '../../ledger/connection.ts';
import { isConnectionFailure } from '../../platform/database-failures.ts';

export type Patience = {
  /**
   * Does a piece of work in the ledger, again and again for as long as the database is away; so it must be safe to do
   * twice, also when the first time was committed and nobody heard of it. Rejects with the failure of the database when
   * patience ends, even if the database holds the work up without an answer.
   *
   * @param stop ends the work early; that it then succeeds says nothing of the database
   */
  readonly persist: <Result>(work: () => Promise<Result>, stop?: AbortSignal) => Promise<Result>;
  /** As `persist`, for a question that is answered at once: while there is no answer, the database is away. */
  readonly ask: <Result>(question: () => Promise<Result>) => Promise<Result>;
  readonly isAway: () => boolean;
  /** Resolves at once while the database is there, else when it is back, or when stopped. */
  readonly back: (stop: AbortSignal) => Promise<void>;
};

export type Outage = {
  /** The database is away; told once, until it is back. Again where it cannot be brought back, with why. */
  readonly onLost: (error: Error) => void;
  readonly onBack: () => void;
};

const shortestWait = 100;
const longestWait = 2_000;

/**
 * After so long without an answer the database is said to be away; and after so long, connections are given up, since the
 * other end may be gone without a word. The system itself would wait for a quarter of an hour. Milliseconds.
 */
const longestSilence = 5_000;
const giveUpConnections = 30_000;

export function openPatience(
  { onLost, onBack }: Outage,
  { revive, dropConnections }: Pick<Ledger, 'revive' | 'dropConnections'>,
  end: AbortSignal,
): Patience {
  let away: PromiseWithResolvers<void> | undefined;
  // What was begun before the database went away, or before it came back, says nothing of how it is now.
  let era = 0;
  let lastFailure: Error | undefined;
  let reviving: Promise<void> | undefined;
  let whyNotRevived: string | undefined;

  const lose = (error: Error): void => {
    if (away) return;
    away = Promise.withResolvers();
    era++;
    lastFailure = error;
    onLost(error);
  };

  const regain = (): void => {
    if (!away) return;
    away.resolve();
    away = undefined;
    era++;
    lastFailure = undefined;
    whyNotRevived = undefined;
    onBack();
  };

  const reviveOnce = (lost: Error): Promise<void> => {
    reviving ??= revive(() => lose(lost))
      .catch((error: unknown) => {
        if (!(error instanceof Error) || error.message === whyNotRevived) return;
        whyNotRevived = error.message;
        if (away) onLost(error);
        else lose(error);
      })
      .finally(() => {
        reviving = undefined;
      });
    return reviving;
  };

  const persist: Patience['persist'] = async (work, stop) => {
    let began = era;
    let failed = false;
    const trying = pRetry(
      () => {
        began = era;
        return work();
      },
      {
        retries: Number.POSITIVE_INFINITY,
        minTimeout: shortestWait,
        maxTimeout: longestWait,
        randomize: true,
        signal: end,
        shouldRetry: ({ error }) => isTransient(error),
        onFailedAttempt: async ({ error, attemptNumber }) => {
          if (!isAway(error)) return;
          failed = true;
          lastFailure = error;
          if (began !== era) return;
          // One broken connection says nothing yet: the next try has another.
          if (attemptNumber > 1) lose(error);
          await reviveOnce(error);
        },
      },
    );
    const result = await unlessEnded(trying, end).catch((error: unknown) => {
      throw end.aborted ? (lastFailure ?? error) : error;
    });
    // What succeeds at once may not have needed the database.
    if (failed && began === era && !stop?.aborted) regain();
    return result;
  };

  return {
    persist,
    isAway: () => away !== undefined,
    async ask(question) {
      let silent = false;
      const notice = setTimeout(() => {
        silent = true;
        lose(new Error(`no answer for ${longestSilence / 1000} s`));
      }, longestSilence);
      const dropping = setInterval(dropConnections, giveUpConnections);
      try {
        const result = await persist(question);
        if (silent) regain();
        return result;
      } finally {
        clearTimeout(notice);
        clearInterval(dropping);
      }
    },
    async back(stop) {
      if (away && !stop.aborted) await orStopped(away.promise, stop);
    },
  };
}

/** @throws the signal's reason, as soon as it is aborted */
function unlessEnded<Result>(work: Promise<Result>, end: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onEnd = (): void => reject(end.reason);
    end.addEventListener('abort', onEnd, { once: true });
    work.then(resolve, reject).finally(() => end.removeEventListener('abort', onEnd));
  });
}

function orStopped(work: Promise<void>, stop: AbortSignal): Promise<void> {
  return unlessEnded(work, stop).catch(() => undefined);
}

/** What passes by itself: the database is away, or a transaction was undone because of another one. */
function isTransient(error: unknown): error is Error {
  return isAway(error) || /^(40P01|40001)$/.test(codeOf(error));
}

/**
 * A lost connection, also one that Postgres ended because we were silent for too long in a transaction; or a server that
 * cannot work as it is: without room, memory or connections (class 53), or a stand-by that only reads.
 */
function isAway(error: unknown): error is Error {
  return isConnectionFailure(error) || /^(53...|25006|25P03)$/.test(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
