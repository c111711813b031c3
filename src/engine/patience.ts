import pRetry from 'p-retry';
import { isConnectionFailure } from '../platform/database.ts';

export type Patience = {
  /**
   * Does a piece of work in the ledger, again and again for as long as the database is away; so it must be safe to do
   * twice. Rejects with the last failure when patience ends.
   */
  readonly persist: <Result>(work: () => Promise<Result>) => Promise<Result>;
};

export type Outage = {
  /** The database is away; told once, until it is back. */
  readonly onLost: (error: Error) => void;
  readonly onBack: () => void;
};

/** Waits between two tries (milliseconds). */
const shortestWait = 100;
const longestWait = 2_000;

/**
 * @param end ends the waiting: the process is to be gone
 */
export function openPatience({ onLost, onBack }: Outage, end: AbortSignal): Patience {
  let away = false;
  return {
    async persist(work) {
      const result = await pRetry(work, {
        retries: Number.POSITIVE_INFINITY,
        minTimeout: shortestWait,
        maxTimeout: longestWait,
        randomize: true,
        signal: end,
        shouldRetry: ({ error }) => isTransient(error),
        onFailedAttempt: ({ error }) => {
          if (!isTransient(error) || away) return;
          away = true;
          onLost(error);
        },
      });
      if (away) {
        away = false;
        onBack();
      }
      return result;
    },
  };
}

/** A lost connection, or a transaction that Postgres undid because of another one. */
function isTransient(error: unknown): error is Error {
  if (isConnectionFailure(error)) return true;
  return error instanceof Error && 'code' in error && (error.code === '40P01' || error.code === '40001');
}
