import type pg from 'pg';
import type { Suppression } from '../../domain/suppressions.ts';

/**
 * Suppresses addresses, all or none. One that is suppressed already stays as it is, with its earlier reason.
 *
 * @returns how many are new
 */
export async function addSuppressions(
  client: pg.Pool | pg.ClientBase,
  suppressions: readonly Suppression[],
): Promise<number> {
  // In the order of the key, so that two that write the same addresses wait for each other, not crosswise.
  const { rowCount } = await client.query(
    `
    INSERT INTO suppressions (channel, address, account, sub_account, reason, source, created_at)
    SELECT channel, address, account, sub_account, reason, source, created_at
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[])
      WITH ORDINALITY AS s (channel, address, sub_account, reason, source, created_at, account, place)
    ORDER BY channel, address COLLATE "C", account, sub_account, place
    ON CONFLICT DO NOTHING
    `,
    [
      suppressions.map(({ channel }) => channel),
      suppressions.map(({ address }) => address),
      suppressions.map(({ subAccount }) => subAccount),
      suppressions.map(({ reason }) => reason),
      suppressions.map(({ source }) => source),
      suppressions.map(({ createdAt }) => createdAt),
      suppressions.map(({ account }) => account ?? ''),
    ],
  );
  return rowCount ?? 0;
}
