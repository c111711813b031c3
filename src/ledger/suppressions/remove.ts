import type { Suppression } from '../../domain/suppressions.ts';
import { batchOf } from '../batch.ts';
import type { Connection } from '../session.ts';
import { type HashKey, requireHashKey } from './hash.ts';

export type SuppressionKey = Pick<Suppression, 'channel' | 'address' | 'account' | 'subAccount'>;

type HashedKey = SuppressionKey & { readonly hash: Buffer | null };

const hashedKeys = batchOf<HashedKey>({
  channel: ['text', ({ channel }) => channel],
  address: ['text', ({ address }) => address],
  account: ['text', ({ account }) => account ?? ''],
  sub_account: ['text', ({ subAccount }) => subAccount],
  hash: ['bytea', ({ hash }) => hash],
});

/**
 * Removes suppressions, hashed ones too, all or none. Earlier reports do not bring them back.
 *
 * @param hashKey key of hashed suppressions
 * @returns the removed suppressions
 * @throws InputError when suppressions are hashed with another key
 */
export async function removeSuppressions(
  client: Connection,
  keys: readonly SuppressionKey[],
  now: Date,
  hashKey: HashKey | null = null,
): Promise<SuppressionKey[]> {
  await requireHashKey(client, hashKey);
  const hashed = keys.map((key) => ({ ...key, hash: hashKey?.hash(key.channel, key.address) ?? null }));
  const { rows } = await client.query<SuppressionKey>(
    `
    WITH key AS MATERIALIZED (
      SELECT * FROM ${hashedKeys.table('k', 2)}
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
    ), recorded AS (
      INSERT INTO removed_suppressions (channel, address, account, sub_account, removed_at)
      SELECT channel, address, account, sub_account, $1
      FROM removed
      ORDER BY channel, address, account, sub_account
      ON CONFLICT (channel, address, account, sub_account) DO UPDATE SET removed_at = excluded.removed_at
    )
    SELECT channel, address, account, sub_account AS "subAccount"
    FROM removed
    `,
    [now, ...hashedKeys.values(hashed)],
  );
  return rows;
}

type SuppressibleAddress = Pick<SuppressionKey, 'channel' | 'address'>;

const addresses = batchOf<SuppressibleAddress>({
  channel: ['text', ({ channel }) => channel],
  address: ['text', ({ address }) => address],
});

/** Lists all unhashed suppressions of these addresses. */
export async function listSuppressionsOf(
  client: Connection,
  keys: readonly SuppressibleAddress[],
): Promise<SuppressionKey[]> {
  if (keys.length === 0) return [];
  const { rows } = await client.query<SuppressionKey>(
    `
    SELECT channel, address, account, sub_account AS "subAccount"
    FROM suppressions
    WHERE (channel, address) IN (SELECT channel, address COLLATE "C" FROM ${addresses.table('k')})
    ORDER BY channel, address, account, sub_account
    `,
    addresses.values(keys),
  );
  return rows;
}
