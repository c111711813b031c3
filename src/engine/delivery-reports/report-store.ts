import pRetry from 'p-retry';
import { type ReceivedReport, receiveReports } from '../../ledger/delivery-reports/receive.ts';
import { isConnectionFailure } from '../../platform/database-failures.ts';
import { coalesce } from '../coalesce.ts';
import type { EngineContext } from '../context.ts';

export type ReportStore = {
  /**
   * Resolves when a call is committed to the inbox. Rejects when the database was away for some seconds: it may be committed
   * all the same, and comes again.
   */
  readonly store: (call: ReceivedReport) => Promise<void>;
};

/**
 * How long a commit is tried again while the database is away (milliseconds). The service waits longer for its answer; a
 * restart of the database is over by then, and a failure to answer would bring every report a second time.
 */
const maxCommitTime = 5_000;

/** Commits calls to the inbox; those that come together share a commit. */
export function createReportStore({ ledger, randomUuid }: EngineContext): ReportStore {
  const commit = async (calls: readonly ReceivedReport[]): Promise<undefined[]> => {
    const batch = randomUuid();
    await pRetry(() => receiveReports(ledger.hot, batch, calls), {
      retries: Number.POSITIVE_INFINITY,
      maxRetryTime: maxCommitTime,
      minTimeout: 50,
      maxTimeout: 500,
      randomize: true,
      shouldRetry: ({ error }) => isConnectionFailure(error),
    });
    return calls.map(() => undefined);
  };
  // Who was just answered calls again in a moment; a commit costs as much for a few calls as for many.
  return { store: coalesce(commit, { maxBatch: 256, busyThreshold: 16 }) };
}
