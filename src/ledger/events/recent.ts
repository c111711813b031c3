import type { Transaction } from '../session.ts';

/*
 * Rows are committed in another order than their times and numbers. So a reader remembers the oldest transaction that
 * was running when it last looked: a row of an older one was visible then. Among the others, it remembers the rows
 * that it has seen.
 */

/** An event as it is read: with the transaction that wrote its row. */
export type ReadRow<Event> = Omit<Event, 'kind'> & { readonly transaction: number; readonly at: Date };

/** Numbers of transactions, as text. */
export type RunningTransactions = {
  /** Every one before it was committed or rolled back. */
  readonly oldest: string;
  /** None from it on had begun. */
  readonly next: string;
};

export async function readRunningTransactions(client: Transaction): Promise<RunningTransactions> {
  const { rows } = await client.query<RunningTransactions>(
    `
    SELECT CAST(pg_snapshot_xmin(s) AS text) AS oldest, CAST(pg_snapshot_xmax(s) AS text) AS next
    FROM pg_current_snapshot() s
    `,
  );
  return rows[0] ?? { oldest: '0', next: '0' };
}

/**
 * SQL: whether a row was written by this transaction or a later one. Rows have the last 32 bits of the number, so the
 * comparison goes round.
 *
 * @param oldest SQL of the transaction; null: every row is recent
 */
export function isRecent(row: string, oldest: string): string {
  return `(
    ${oldest}::bigint IS NULL
    OR mod(CAST(CAST(${row}.xmin AS text) AS bigint) - mod(${oldest}::bigint, 4294967296) + 4294967296, 4294967296) < 2147483648
  )`;
}

/** Whether rows of the transaction can still be new to a reader that remembers `oldest`. */
export function mayBeRead(transaction: number, oldest: string): boolean {
  const since = (transaction - Number(BigInt(oldest) % 4_294_967_296n) + 2 ** 32) % 2 ** 32;
  return since < 2 ** 31;
}
