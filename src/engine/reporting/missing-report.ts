import {
  type MissingFilter,
  type MissingReport,
  streamMissing,
} from '../../ledger/delivery-reports/missing.ts';
import { inSnapshot } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';

/** Recipients without a final report, in constant memory; the longest accepted first. */
export async function reportMissing<Result>(
  { ledger }: EngineContext,
  filter: MissingFilter,
  use: (rows: AsyncIterable<readonly MissingReport[]>) => Promise<Result>,
): Promise<Result> {
  return inSnapshot(ledger.pool, async (client) => {
    return use(streamMissing(client, filter, undefined));
  });
}
