import { type BilledRequest, listBilledRequests, type Payer } from '../../ledger/billing/list-requests.ts';
import { inSnapshot } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { requireRun } from '../runs/find-run.ts';

export type BilledRequestsPart = {
  readonly requests: readonly BilledRequest[];
  /** Read on after the last one. */
  readonly hasMore: boolean;
};

/**
 * The requests behind a line of a billing report.
 *
 * @param after a request; 0 for the first
 * @throws InputError when there is no such run
 */
export async function readBilledRequests(
  context: EngineContext,
  run: string,
  payer: Payer,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<BilledRequestsPart> {
  await requireRun(context, run);
  const found = await inSnapshot(context.ledger.pool, (client) =>
    listBilledRequests(client, run, payer, { after, limit: limit + 1 }),
  );
  return { requests: found.slice(0, limit), hasMore: found.length > limit };
}
