import { type FailedRequest, streamFailedRequests } from '../../ledger/requests/failures.ts';
import { inSnapshot } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { requireRun } from '../runs/find-run.ts';

/** What a run's requests that were not accepted belong to, and they themselves, as of one moment. */
export type FailureReport = {
  readonly run: string;
  readonly campaign: string;
  readonly rows: AsyncIterable<readonly FailedRequest[]>;
};

/**
 * Every request of a run that was not accepted, in constant memory.
 *
 * @throws InputError when there is no such run
 */
export async function reportFailures<Result>(
  context: EngineContext,
  run: string,
  use: (report: FailureReport) => Promise<Result>,
): Promise<Result> {
  const { campaign } = await requireRun(context, run);
  return inSnapshot(context.ledger.pool, async (client) => {
    return use({ run, campaign, rows: streamFailedRequests(client, run) });
  });
}
