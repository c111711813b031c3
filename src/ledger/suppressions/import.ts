import type pg from 'pg';
import type { Channel } from '../../domain/message.ts';
import type { SuppressionSource } from '../../domain/suppressions.ts';
import { batchOf } from '../batch.ts';
import { inTransaction, type Transaction } from '../session.ts';

export type SuppressionList = {
  readonly channels: readonly Channel[];
  readonly reason: string;
  readonly source: SuppressionSource;
  readonly createdAt: Date;
};

/** An address, normalised, and the account and SubAccount whose messages it is suppressed for; empty for all. */
export type ListedAddress = {
  readonly address: string;
  readonly account?: string;
  readonly subAccount: string;
};

/**
 * Suppresses a list of addresses in each of its channels, all or none: nothing is seen of it before the end of the
 * list. One that is suppressed already stays as it is. Memory does not grow with the list.
 *
 * @param alongside committed with it
 * @returns how many are new; an address counts once a channel
 */
export async function importSuppressions(
  pool: pg.Pool,
  batches: AsyncIterable<readonly ListedAddress[]>,
  list: SuppressionList,
  alongside?: (client: Transaction, added: number) => Promise<void>,
): Promise<number> {
  const addAll = async (client: Transaction): Promise<number> => {
    // Gathered first, so that what is locked for others is locked for one statement, however slow the file is.
    await client.query(
      'CREATE TEMPORARY TABLE listed_addresses (address text COLLATE "C", sub_account text, account text) ON COMMIT DROP',
    );
    for await (const batch of batches) await stageAddresses(client, batch);
    const added = await insertStaged(client, list);
    await alongside?.(client, added);
    // A plan that knows nothing of a large list is a bad one, and autovacuum takes its time.
    await client.query('ANALYZE suppressions');
    return added;
  };
  // Without the time-out of others: a list may be read slowly.
  return inTransaction(pool, addAll, 'BEGIN');
}

const listed = batchOf<ListedAddress>({
  address: ['text', ({ address }) => address],
  sub_account: ['text', ({ subAccount }) => subAccount],
  account: ['text', ({ account }) => account ?? ''],
});

async function stageAddresses(client: Transaction, batch: readonly ListedAddress[]): Promise<void> {
  if (batch.length === 0) return;
  await client.query(
    `INSERT INTO listed_addresses (${listed.columns}) SELECT * FROM ${listed.table('listed')}`,
    listed.values(batch),
  );
}

/** In the order of the key, so that two that write the same addresses wait for each other, not crosswise. */
async function insertStaged(client: Transaction, list: SuppressionList): Promise<number> {
  const { rowCount } = await client.query(
    `
    INSERT INTO suppressions (channel, address, account, sub_account, reason, source, created_at)
    SELECT DISTINCT channel, address, account, sub_account, $2, $3, $4::timestamptz
    FROM listed_addresses, unnest($1::text[]) AS channel
    ORDER BY channel, address, account, sub_account
    ON CONFLICT DO NOTHING
    `,
    [list.channels, list.reason, list.source, list.createdAt],
  );
  return rowCount ?? 0;
}
