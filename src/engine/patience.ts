import pRetry from 'p-retry';
import { isConnectionFailure } from '../platform/database.ts';

export type Patience = {
  /**
   * Does a piece of work in the ledger, again and again for as long as the database is away; so it must be safe to do
   * twice. Rejects with the failure of the database when patience ends.
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
  let lost: Error | undefined;
  return {
    async persist(work) {
      let waited = false;
      const tried = async (): ReturnType<typeof work> => {
        try {
          return await work();
        } catch (error) {
          if (isConnectionFailure(error)) {
            waited = true;
            if (!lost) onLost(error);
            lost = error;
          }
          throw error;
        }
      };
      try {
        const result = await pRetry(tried, {
          retries: Number.POSITIVE_INFINITY,
          minTimeout: shortestWait,
          maxTimeout: longestWait,
          randomize: true,
          signal: end,
          shouldRetry: ({ error }) => isTransient(error),
        });
        // Other work may have had nothing to ask the database.
        if (waited && lost) {
          lost = undefined;
          onBack();
        }
        return result;
      } catch (error) {
        throw end.aborted && lost ? lost : error;
      }
    },
  };
}

/** A lost connection, or a transaction that Postgres undid because of another one. */
function isTransient(error: unknown): error is Error {
  if (isConnectionFailure(error)) return true;
  return error instanceof Error && 'code' in error && (error.code === '40P01' || error.code === '40001');
}
