import type { Connection, Transaction } from '../session.ts';

export type MovedAccount = { readonly account: string; readonly cell: string; readonly movedAt: Date };

/**
 * Keeps an account in this ledger until the end of the transaction, which plans a run of it.
 *
 * @returns where it is, if it has moved away
 */
export async function keepAccount(client: Transaction, account: string): Promise<MovedAccount | undefined> {
  await client.query(`SELECT pg_advisory_xact_lock_shared(hashtextextended('volley move ' || $1, 0))`, [
    account,
  ]);
  return findMoved(client, account);
}

/**
 * Waits for runs of the account that are being planned, and keeps others from it until the end of the transaction.
 *
 * @throws an error of Postgres (55P03) after five seconds
 */
export async function lockAccount(client: Transaction, account: string): Promise<void> {
  await client.query(`SET LOCAL lock_timeout = '5s'`);
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('volley move ' || $1, 0))`, [account]);
}

export async function listMoved(client: Connection): Promise<readonly MovedAccount[]> {
  const { rows } = await client.query<MovedAccount>(
    'SELECT account, cell, moved_at AS "movedAt" FROM moved_accounts ORDER BY account',
  );
  return rows;
}

/** @returns where the account is, or on its way to, if it is not here */
export async function findMoved(client: Connection, account: string): Promise<MovedAccount | undefined> {
  return (await listMoved(client)).find((moved) => moved.account === account);
}

/** From the end of the transaction no run of the account is planned here. An earlier mark stays. */
export async function markMoved(
  client: Transaction,
  { account, cell, movedAt }: MovedAccount,
): Promise<void> {
  await client.query(
    `
    INSERT INTO moved_accounts (account, cell, moved_at) VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING
    `,
    [account, cell, movedAt],
  );
}

/** The account is here again. */
export async function markArrived(client: Transaction, account: string): Promise<void> {
  await client.query('DELETE FROM moved_accounts WHERE account = $1', [account]);
}
