import { batchOf } from '../batch.ts';
import { streamRows } from '../cursor.ts';
import type { Transaction } from '../session.ts';

type DbSuppression = {
  readonly channel: string;
  readonly address: string;
  readonly account: string;
  readonly sub_account: string;
  readonly reason: string;
  readonly run_id: string | null;
  readonly source: string;
  readonly added_by: string | null;
  readonly created_at: Date;
};

type DbHashed = Pick<DbSuppression, 'channel' | 'account' | 'sub_account' | 'source' | 'created_at'> & {
  readonly hash: Buffer;
};

const plain = batchOf<DbSuppression>({
  channel: ['text', ({ channel }) => channel],
  address: ['text', ({ address }) => address],
  account: ['text', ({ account }) => account],
  sub_account: ['text', ({ sub_account }) => sub_account],
  reason: ['text', ({ reason }) => reason],
  run_id: ['text', ({ run_id }) => run_id],
  source: ['text', ({ source }) => source],
  added_by: ['text', ({ added_by }) => added_by],
  created_at: ['timestamptz', ({ created_at }) => created_at],
});

const hashed = batchOf<DbHashed>({
  channel: ['text', ({ channel }) => channel],
  hash: ['bytea', ({ hash }) => hash],
  account: ['text', ({ account }) => account],
  sub_account: ['text', ({ sub_account }) => sub_account],
  source: ['text', ({ source }) => source],
  created_at: ['timestamptz', ({ created_at }) => created_at],
});

/**
 * Copies the suppressions of an account, and those for all accounts, into another ledger, in constant memory. Those
 * that are there stay. Hashed ones need the same key in both ledgers; the caller has checked it.
 *
 * @param since only suppressions from then on; null: all
 * @returns the number of new ones
 */
export async function copySuppressions(
  from: Transaction,
  to: Transaction,
  account: string,
  since: Date | null,
): Promise<number> {
  let copied = 0;
  const values = [account, since];
  const ofAccount = `account IN ('', $1) AND ($2::timestamptz IS NULL OR created_at >= $2)`;
  // In key order, to avoid deadlocks.
  const plainRows = `SELECT ${plain.columns} FROM suppressions WHERE ${ofAccount} ORDER BY channel, address, account, sub_account`;
  for await (const rows of streamRows<DbSuppression>(from, 'plain', { sql: plainRows, values }, 1_000)) {
    const { rowCount } = await to.query(
      `INSERT INTO suppressions (${plain.columns}) SELECT * FROM ${plain.table('s')} ON CONFLICT DO NOTHING`,
      plain.values(rows),
    );
    copied += rowCount ?? 0;
  }
  const hashedRows = `SELECT ${hashed.columns} FROM hashed_suppressions WHERE ${ofAccount} ORDER BY channel, hash, account, sub_account`;
  for await (const rows of streamRows<DbHashed>(from, 'hashed', { sql: hashedRows, values }, 1_000)) {
    const { rowCount } = await to.query(
      `INSERT INTO hashed_suppressions (${hashed.columns}) SELECT * FROM ${hashed.table('s')} ON CONFLICT DO NOTHING`,
      hashed.values(rows),
    );
    copied += rowCount ?? 0;
  }
  return copied;
}

/** Whether both ledgers have a proof of the same key, or none is needed, because nothing is hashed. */
export async function canShareHashes(from: Transaction, to: Transaction): Promise<boolean> {
  const sql = 'SELECT proof FROM hash_key WHERE EXISTS (SELECT FROM hashed_suppressions)';
  const { rows: needed } = await from.query<{ proof: Buffer }>(sql);
  const { rows: there } = await to.query<{ proof: Buffer }>('SELECT proof FROM hash_key');
  return needed.every(({ proof }) => there[0]?.proof.equals(proof));
}
