import type pg from 'pg';
import type { ReportMethod } from '../../domain.ts';

/** One call of the receiver, as it came. */
export type ReceivedReport = {
  readonly account: string;
  readonly receivedAt: Date;
  readonly method: ReportMethod;
  readonly contentType: string;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a GET, what stands after the question mark. */
  readonly body: Buffer;
};

/**
 * Commits the raw bytes of reports to the inbox, in their order; all or none. Only after this may a call be answered 2xx
 * (rule 5).
 */
export async function receiveReports(pool: pg.Pool, reports: readonly ReceivedReport[]): Promise<void> {
  await pool.query({
    name: 'receive-reports',
    text: `
    WITH stored AS (
      INSERT INTO inbox (account, received_at, method, content_type, headers, body)
      SELECT account, received_at, method, content_type, headers, body
      FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::jsonb[], $6::bytea[]) WITH ORDINALITY
        AS received (account, received_at, method, content_type, headers, body, place)
      ORDER BY place
      RETURNING report_id, received_at, octet_length(body) AS bytes
    )
    INSERT INTO inbox_queue (report_id, due_at, bytes)
    SELECT report_id, received_at, bytes FROM stored
    `,
    values: [
      reports.map(({ account }) => account),
      reports.map(({ receivedAt }) => receivedAt),
      reports.map(({ method }) => method),
      reports.map(({ contentType }) => contentType),
      reports.map(({ headers }) => JSON.stringify(headers)),
      reports.map(({ body }) => body),
    ],
  });
}
