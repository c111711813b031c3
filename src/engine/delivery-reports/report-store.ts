import pRetry from 'p-retry';
import { type ReceivedCall, receiveDeliveryReports } from '../../ledger/delivery-reports/receive.ts';
import { isConnectionFailure } from '../../platform/database-failures.ts';
import { coalesce } from '../coalesce.ts';
import type { EngineContext } from '../context.ts';

type ReportStore = {
  /**
   * Resolves when a call is committed. Rejects after some seconds without a database; the call may be committed all
   * the same, and the service repeats it.
   */
  readonly store: (call: ReceivedCall) => Promise<void>;
};

/**
 * Retries of a commit (milliseconds): long enough for a database restart, shorter than the service waits. A failure
 * would make it repeat every call.
 */
const maxCommitTime = 5_000;

/** Calls that arrive together share a commit. */
export function createReportStore({ ledger, randomUuid }: EngineContext): ReportStore {
  const commit = async (calls: readonly ReceivedCall[]): Promise<undefined[]> => {
    const batch = randomUuid();
    await pRetry(() => receiveDeliveryReports(ledger.hot, batch, calls), {
      retries: Number.POSITIVE_INFINITY,
      maxRetryTime: maxCommitTime,
      minTimeout: 50,
      maxTimeout: 500,
      randomize: true,
      shouldRetry: ({ error }) => isConnectionFailure(error),
    });
    return calls.map(() => undefined);
  };
  // The service calls again right after an answer, and a commit costs as much for few calls as for many.
  return { store: coalesce(commit, { maxBatch: 256, busyThreshold: 16 }) };
}
