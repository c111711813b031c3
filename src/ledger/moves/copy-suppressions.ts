import { streamRows } from '../cursor.ts';
import type { Transaction } from '../session.ts';

/** A suppression that an operator has removed in the other ledger stays removed. */
const sources = {
  suppressions: {
    key: 'channel, address, account, sub_account',
    isRemoved: `EXISTS (
      SELECT FROM removed_suppressions r
      WHERE r.channel = s.channel AND r.address = s.address AND r.account = s.account
        AND r.sub_account = s.sub_account AND r.removed_at >= s.created_at
    )`,
  },
  // Removed ones are known by their address only.
  hashed_suppressions: { key: 'channel, hash, account, sub_account', isRemoved: 'false' },
} as const;

type Scope = {
  readonly account: string;
  /** Null: all. */
  readonly since: Date | null;
};

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
  const scope = { account, since };
  const plain = await copyRows(from, to, 'suppressions', scope);
  return plain + (await copyRows(from, to, 'hashed_suppressions', scope));
}

async function copyRows(
  from: Transaction,
  to: Transaction,
  table: keyof typeof sources,
  { account, since }: Scope,
): Promise<number> {
  const { key, isRemoved } = sources[table];
  let copied = 0;
  const statement = {
    // In key order, to avoid deadlocks.
    sql: `
      SELECT to_jsonb(s)::text AS row FROM ${table} s
      WHERE account IN ('', $1) AND ($2::timestamptz IS NULL OR created_at >= $2)
      ORDER BY ${key}`,
    values: [account, since],
  };
  for await (const rows of streamRows<{ row: string }>(from, table, statement, 1_000)) {
    const { rowCount } = await to.query(
      `
      INSERT INTO ${table}
      SELECT s.* FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb) s
      WHERE NOT ${isRemoved}
      ON CONFLICT DO NOTHING
      `,
      [`[${rows.map(({ row }) => row).join()}]`],
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
