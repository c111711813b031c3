import type pg from 'pg';

/** One call of the receiver, as it came. */
export type ReceivedReport = {
  readonly account: string;
  readonly receivedAt: Date;
  readonly contentType: string;
  /** Without credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** Commits the raw bytes of a report to the inbox. Only after this may the call be answered 2xx (rule 5). */
export async function receiveReport(pool: pg.Pool, report: ReceivedReport): Promise<void> {
  await pool.query(
    `INSERT INTO delivery_reports (account, received_at, content_type, headers, body) VALUES ($1, $2, $3, $4, $5)`,
    [report.account, report.receivedAt, report.contentType, JSON.stringify(report.headers), report.body],
  );
}
