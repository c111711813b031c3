import type pg from 'pg';
import type { Suppression } from '../../domain.ts';

/** What a suppression is known by. */
export type SuppressionKey = Pick<Suppression, 'channel' | 'address' | 'subAccount'>;

/**
 * Takes suppressions away, all or none. Reports that came before do not bring them back.
 *
 * @returns those that there were
 */
export async function removeSuppressions(
  pool: pg.Pool,
  keys: readonly SuppressionKey[],
  now: Date,
): Promise<SuppressionKey[]> {
  const { rows } = await pool.query<SuppressionKey>(
    `
    WITH removed AS (
      DELETE FROM suppressions s
      USING unnest($1::text[], $2::text[], $3::text[]) AS k (channel, address, sub_account)
      WHERE s.channel = k.channel AND s.address = k.address AND s.sub_account = k.sub_account
      RETURNING s.channel, s.address, s.sub_account
    ), noted AS (
      INSERT INTO removed_suppressions (channel, address, sub_account, removed_at)
      SELECT channel, address, sub_account, $4
      FROM removed
      ORDER BY channel, address, sub_account
      ON CONFLICT (channel, address, sub_account) DO UPDATE SET removed_at = excluded.removed_at
    )
    SELECT channel, address, sub_account AS "subAccount"
    FROM removed
    `,
    [
      keys.map(({ channel }) => channel),
      keys.map(({ address }) => address),
      keys.map(({ subAccount }) => subAccount),
      now,
    ],
  );
  return rows;
}
