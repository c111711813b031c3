import type pg from 'pg';
import type { Suppression } from '../../domain.ts';

/** What a suppression is known by. */
export type SuppressionKey = Pick<Suppression, 'channel' | 'address' | 'subAccount'>;

/**
 * Takes suppressions away, all or none.
 *
 * @returns those that there were
 */
export async function removeSuppressions(
  pool: pg.Pool,
  keys: readonly SuppressionKey[],
): Promise<SuppressionKey[]> {
  const { rows } = await pool.query<SuppressionKey>(
    `
    DELETE FROM suppressions s
    USING unnest($1::text[], $2::text[], $3::text[]) AS k (channel, address, sub_account)
    WHERE s.channel = k.channel AND s.address = k.address AND s.sub_account = k.sub_account
    RETURNING s.channel, s.address, s.sub_account AS "subAccount"
    `,
    [
      keys.map(({ channel }) => channel),
      keys.map(({ address }) => address),
      keys.map(({ subAccount }) => subAccount),
    ],
  );
  return rows;
}
