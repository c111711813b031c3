import type pg from 'pg';
import type { Channel } from '../../domain/message.ts';
import type { Suppression, SuppressionSource } from '../../domain/suppressions.ts';
import { batchOf } from '../batch.ts';
import { type Connection, inTransaction, type Transaction } from '../session.ts';

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

export type SuppressionList = {
  readonly channels: readonly Channel[];
  readonly reason: string;
  readonly source: SuppressionSource;
  readonly by?: string | null;
  readonly createdAt: Date;
};

/** A normalised address with the account and SubAccount that it is suppressed for; empty: all. */
export type ListedAddress = {
  readonly address: string;
  readonly account?: string;
  readonly subAccount: string;
};

const listed = batchOf<ListedAddress>({
  address: ['text', ({ address }) => address],
  sub_account: ['text', ({ subAccount }) => subAccount],
  account: ['text', ({ account }) => account ?? ''],
});

/**
 * Suppresses a list of addresses in each channel, all or none, in constant memory. Existing suppressions stay.
 *
 * @param alongside runs in the same transaction
 * @returns the number of new suppressions; an address counts once for each channel
 */
export async function importSuppressions(
  pool: pg.Pool,
  batches: AsyncIterable<readonly ListedAddress[]>,
  list: SuppressionList,
  alongside?: (client: Transaction, added: number) => Promise<void>,
): Promise<number> {
  const addAll = async (client: Transaction): Promise<number> => {
    // Staged first: a slow file would hold row locks for as long as it is read.
    await client.query(
      'CREATE TEMPORARY TABLE listed_addresses (address text COLLATE "C", sub_account text, account text) ON COMMIT DROP',
    );
    const stage = `INSERT INTO listed_addresses (${listed.columns}) SELECT * FROM ${listed.table('listed')}`;
    for await (const batch of batches) if (batch.length > 0) await client.query(stage, listed.values(batch));
    const { channels, reason, source, createdAt, by = null } = list;
    // In key order, to avoid deadlocks.
    const { rowCount } = await client.query(
      `
      INSERT INTO suppressions (channel, address, account, sub_account, reason, source, created_at, added_by)
      SELECT DISTINCT channel, address, account, sub_account, $2, $3, $4::timestamptz, $5
      FROM listed_addresses, unnest($1::text[]) AS channel
      ORDER BY channel, address, account, sub_account
      ON CONFLICT DO NOTHING
      `,
      [channels, reason, source, createdAt, by],
    );
    const added = rowCount ?? 0;
    await alongside?.(client, added);
    // Autovacuum is slow, and plans without statistics of a large list are bad.
    await client.query('ANALYZE suppressions');
    return added;
  };
  // Without the idle timeout: the list may arrive slowly.
  return inTransaction(pool, addAll, 'BEGIN');
}
