import type pg from 'pg';
import type { Suppression } from '../../domain/suppressions.ts';
import { type HashKey, requireHashKey } from './hash.ts';

/** What a suppression is known by. */
export type SuppressionKey = Pick<Suppression, 'channel' | 'address' | 'account' | 'subAccount'>;

/**
 * Takes suppressions away, all or none, those that are known by their hashes too. Reports that came before do not bring
 * them back.
 *
 * @param hashKey of these
 * @returns those that there were
 * @throws InputError when there are hashed ones and this is not their key
 */
export async function removeSuppressions(
  client: pg.Pool | pg.ClientBase,
  keys: readonly SuppressionKey[],
  now: Date,
  hashKey: HashKey | null = null,
): Promise<SuppressionKey[]> {
  await requireHashKey(client, hashKey);
  const { rows } = await client.query<SuppressionKey>(
    `
    WITH key AS MATERIALIZED (
      SELECT *
      FROM unnest($1::text[], $2::text[], $3::text[], $5::bytea[], $6::text[])
        AS k (channel, address, sub_account, hash, account)
    ), plain AS (
      DELETE FROM suppressions s
      USING key k
      WHERE s.channel = k.channel AND s.address = k.address AND s.account = k.account AND s.sub_account = k.sub_account
      RETURNING s.channel, s.address, s.account, s.sub_account
    ), hashed AS (
      DELETE FROM hashed_suppressions s
      USING key k
      WHERE s.channel = k.channel AND s.hash = k.hash AND s.account = k.account AND s.sub_account = k.sub_account
      RETURNING s.channel, k.address, s.account, s.sub_account
    ), removed AS (
      SELECT channel, address, account, sub_account FROM plain
      UNION
      SELECT channel, address COLLATE "C", account, sub_account FROM hashed
    ), noted AS (
      INSERT INTO removed_suppressions (channel, address, account, sub_account, removed_at)
      SELECT channel, address, account, sub_account, $4
      FROM removed
      ORDER BY channel, address, account, sub_account
      ON CONFLICT (channel, address, account, sub_account) DO UPDATE SET removed_at = excluded.removed_at
    )
    SELECT channel, address, account, sub_account AS "subAccount"
    FROM removed
    `,
    [
      keys.map(({ channel }) => channel),
      keys.map(({ address }) => address),
      keys.map(({ subAccount }) => subAccount),
      now,
      keys.map(({ channel, address }) => hashKey?.hash(channel, address) ?? null),
      keys.map(({ account }) => account ?? ''),
    ],
  );
  return rows;
}

/** Every way in which these addresses are suppressed in their channels; without those that are known by hashes alone. */
export async function listSuppressionsOf(
  client: pg.Pool | pg.ClientBase,
  keys: readonly Pick<SuppressionKey, 'channel' | 'address'>[],
): Promise<SuppressionKey[]> {
  if (keys.length === 0) return [];
  const { rows } = await client.query<SuppressionKey>(
    `
    SELECT channel, address, account, sub_account AS "subAccount"
    FROM suppressions
    WHERE (channel, address) IN (SELECT channel, address COLLATE "C" FROM unnest($1::text[], $2::text[]) AS k (channel, address))
    ORDER BY channel, address, account, sub_account
    `,
    [keys.map(({ channel }) => channel), keys.map(({ address }) => address)],
  );
  return rows;
}
