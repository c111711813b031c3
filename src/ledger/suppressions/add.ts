import type { Suppression } from '../../domain/suppressions.ts';
import { batchOf } from '../batch.ts';
import type { Connection } from '../session.ts';

const added = batchOf<Suppression>({
  channel: ['text', ({ channel }) => channel],
  address: ['text', ({ address }) => address],
  account: ['text', ({ account }) => account ?? ''],
  sub_account: ['text', ({ subAccount }) => subAccount],
  reason: ['text', ({ reason }) => reason],
  source: ['text', ({ source }) => source],
  added_by: ['text', ({ by }) => by ?? null],
  created_at: ['timestamptz', ({ createdAt }) => createdAt],
});

/**
 * Suppresses addresses, all or none. Existing suppressions keep their reason.
 *
 * @returns the number of new suppressions
 */
export async function addSuppressions(
  client: Connection,
  suppressions: readonly Suppression[],
): Promise<number> {
  // In key order, to avoid deadlocks.
  const { rowCount } = await client.query(
    `
    INSERT INTO suppressions (${added.columns})
    SELECT ${added.columns}
    FROM ${added.table('s', 1, 'rank')}
    ORDER BY channel, address COLLATE "C", account, sub_account, rank
    ON CONFLICT DO NOTHING
    `,
    added.values(suppressions),
  );
  return rowCount ?? 0;
}
