import { inSession } from '../ledger/connection.ts';
import { type MissingFilter, type MissingReport, streamMissing } from '../ledger/reports/missing.ts';
import type { EngineContext } from './context.ts';

/** Recipients without a final report, in constant memory; the longest accepted first. */
export async function reportMissing<Result>(
  { ledger }: EngineContext,
  filter: MissingFilter,
  use: (rows: AsyncIterable<readonly MissingReport[]>) => Promise<Result>,
): Promise<Result> {
  return inSession(ledger.pool, async (client) => {
    await client.query('BEGIN READ ONLY');
    const result = await use(streamMissing(client, filter, undefined));
    await client.query('COMMIT');
    return result;
  });
}
