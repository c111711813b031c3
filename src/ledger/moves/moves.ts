import type { ReceivedCall } from '../delivery-reports/receive.ts';
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

export type UnmatchedReport = {
  /** A bigint, as text. */
  readonly report: string;
  readonly messageId: string;
};

/**
 * Lists reports and replies of an account that belong to no run of this ledger, and that no other cell has got, in
 * order of arrival. Those without a MessageID are left out: nothing says where they belong.
 *
 * @param after the last one of the page before; '0' for the first page
 */
export async function pageUnmatched(
  client: Connection,
  account: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly UnmatchedReport[]> {
  const { rows } = await client.query<UnmatchedReport>(
    `
    SELECT k.report_id::text AS report, k.message_id AS "messageId"
    FROM unusual_delivery_reports k
    WHERE k.state IN ('unmatched', 'inbound') AND k.account = $1
      AND k.run_id IS NULL AND k.message_id IS NOT NULL AND k.report_id > $2::bigint
      AND NOT EXISTS (SELECT FROM forwarded_reports f WHERE f.report_id = k.report_id)
    ORDER BY k.report_id
    LIMIT $3
    `,
    [account, after, limit],
  );
  return rows;
}

type StoredCall = ReceivedCall & Pick<UnmatchedReport, 'report'>;

/** The calls as they came, in order of arrival, without those that were purged. */
export async function readCalls(client: Connection, reports: readonly string[]): Promise<StoredCall[]> {
  const { rows } = await client.query<StoredCall>(
    `
    SELECT report_id::text AS report, account, received_at AS "receivedAt", method, content_type AS "contentType", headers, body
    FROM calls_of($1::bigint[])
    ORDER BY report_id
    `,
    [reports],
  );
  return rows;
}

/** The other cell has got them. */
export async function markForwarded(
  client: Connection,
  reports: readonly string[],
  cell: string,
  now: Date,
): Promise<void> {
  await client.query(
    `
    INSERT INTO forwarded_reports (report_id, cell, forwarded_at)
    SELECT report_id, $2, $3 FROM unnest($1::bigint[]) AS report_id
    ON CONFLICT DO NOTHING
    `,
    [reports, cell, now],
  );
}
