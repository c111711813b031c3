import type { ReceivedCall } from '../delivery-reports/receive.ts';
import type { Connection } from '../session.ts';

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
