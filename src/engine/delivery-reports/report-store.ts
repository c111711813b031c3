import pRetry from 'p-retry';
import { type ReceivedCall, receiveDeliveryReports } from '../../ledger/delivery-reports/receive.ts';
import { isConnectionFailure } from '../../platform/database-failures.ts';
import { coalesce } from '../coalesce.ts';
import type { EngineContext } from '../context.ts';

/**
 * Retries of a commit (milliseconds): long enough for a database restart, shorter than the service waits. A failure
 * would make it repeat every call.
 */
const maxCommitTime = 5_000;

/**
 * Calls that arrive together share a commit.
 *
 * @returns a function that resolves when a call is committed. It rejects after some seconds without a database; the call
 *   may be committed all the same, and the service repeats it
 */
export function createReportStore({
  ledger,
  randomUuid,
}: EngineContext): (call: ReceivedCall) => Promise<void> {
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
  return coalesce(commit, { maxBatch: 256, busyThreshold: 16 });
}
