import type pg from 'pg';
import type { Channel } from '../../domain/message.ts';
import { batchOf } from '../batch.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { type HashKey, hashedAddress, storeHashKeyProof } from '../suppressions/hash.ts';

const batch = 10_000;

type Key = {
  readonly channel: string;
  readonly address: string;
  readonly account: string;
  readonly sub_account: string;
};

const keys = batchOf<Key>({
  channel: ['text', ({ channel }) => channel],
  address: ['text', ({ address }) => address],
  account: ['text', ({ account }) => account],
  sub_account: ['text', ({ sub_account }) => sub_account],
});

/**
 * Replaces suppressions from before that time by hashes of their addresses, without reasons. Each batch is a
 * transaction, so every address stays suppressed throughout.
 *
 * @throws InputError when others were hashed with another key
 */
export async function hashSuppressions(pool: pg.Pool, key: HashKey, before: Date): Promise<number> {
  let hashed = 0;
  for (let after: Key | undefined = { channel: '', address: '', account: '', sub_account: '' }; after; ) {
    const from: Key = after;
    const step = await inTransaction(pool, (client) => hashAfter(client, key, from, before));
    hashed += step.hashed;
    after = step.last;
  }
  return hashed;
}

async function hashAfter(
  client: Transaction,
  key: HashKey,
  after: Key,
  before: Date,
): Promise<{ readonly hashed: number; readonly last: Key | undefined }> {
  const { rows } = await client.query<Key>(
    `
    SELECT channel, address, account, sub_account
    FROM suppressions
    WHERE (channel, address, account, sub_account) > ($1, $2 COLLATE "C", $6, $3) AND created_at < $4
    ORDER BY channel, address, account, sub_account
    LIMIT $5
    FOR UPDATE
    `,
    [after.channel, after.address, after.sub_account, before, batch, after.account],
  );
  return { hashed: await replaceByHashes(client, key, rows), last: rows.at(-1) };
}

async function replaceByHashes(client: Transaction, key: HashKey, rows: readonly Key[]): Promise<number> {
  if (rows.length === 0) return 0;
  await storeHashKeyProof(client, key);
  const { rowCount } = await client.query(
    `
    WITH found AS MATERIALIZED (
      SELECT * FROM ${keys.table('f', 3)}
    ), kept AS (
      INSERT INTO hashed_suppressions (channel, hash, account, sub_account, source, created_at)
      SELECT s.channel, ${hashedAddress('s.channel', 's.address', '$1', '$2')}, s.account, s.sub_account, s.source, s.created_at
      FROM suppressions s
      JOIN found f
        ON s.channel = f.channel AND s.address = f.address COLLATE "C" AND s.account = f.account
       AND s.sub_account = f.sub_account
      ORDER BY 1, 2, 3, 4
      ON CONFLICT DO NOTHING
    )
    DELETE FROM suppressions s
    USING found f
    WHERE s.channel = f.channel AND s.address = f.address COLLATE "C" AND s.account = f.account
      AND s.sub_account = f.sub_account
    `,
    [key.inner, key.outer, ...keys.values(rows)],
  );
  return rowCount ?? 0;
}

/**
 * Suppresses an address for all accounts, by its hash alone: its other suppressions become hashes too, and the record
 * of removed ones goes.
 *
 * @param address normalised for comparison
 * @throws InputError when others were hashed with another key
 */
export async function suppressByHash(
  client: Transaction,
  key: HashKey,
  {
    channels,
    address,
    now,
  }: { readonly channels: readonly Channel[]; readonly address: string; readonly now: Date },
): Promise<void> {
  const { rows } = await client.query<Key>(
    `
    SELECT channel, address, account, sub_account
    FROM suppressions
    WHERE channel = ANY ($1::text[]) AND address = $2
    ORDER BY channel, address, account, sub_account
    FOR UPDATE
    `,
    [channels, address],
  );
  await replaceByHashes(client, key, rows);
  await storeHashKeyProof(client, key);
  await client.query(
    `
    INSERT INTO hashed_suppressions (channel, hash, source, created_at)
    SELECT channel, hash, 'operator', $3
    FROM unnest($1::text[], $2::bytea[]) AS h (channel, hash)
    ORDER BY channel
    ON CONFLICT DO NOTHING
    `,
    [channels, channels.map((channel) => key.hash(channel, address)), now],
  );
  await client.query('DELETE FROM removed_suppressions WHERE channel = ANY ($1::text[]) AND address = $2', [
    channels,
    address,
  ]);
}

/**
 * Deletes records of removed suppressions. They stay while an older raw report is kept: a replay of it must not bring
 * the suppression back.
 */
export async function deleteRemovedSuppressions(pool: pg.Pool, before: Date): Promise<void> {
  await pool.query(
    `
    DELETE FROM removed_suppressions
    WHERE removed_at < least($1, (SELECT min(first_received_at) FROM inbox_blocks), (SELECT min(received_at) FROM inbox))
    `,
    [before],
  );
}
