import type pg from 'pg';
import { readPages, streamRows } from '../cursor.ts';
import { everyRequest, recipientsOf } from '../request-rows.ts';
import type { Transaction } from '../session.ts';

/** An accepted recipient without a final delivery report. */
export type MissingDeliveryReport = {
  readonly run: string;
  readonly messageId: string;
  readonly address: string;
  readonly acceptedAt: Date;
  /** Of the last report, such as `Pending`; null: no report. */
  readonly lastStatus: string | null;
};

export type MissingFilter = {
  readonly run?: string | undefined;
  readonly accounts?: readonly string[] | null;
  readonly until: Date;
};

/** Reads the oldest acceptance first. */
export function streamMissing(
  client: Transaction,
  { run, accounts, until }: MissingFilter,
  limit: number | undefined,
): AsyncGenerator<readonly MissingDeliveryReport[], void, undefined> {
  const sql = `
    SELECT q.run_id AS run, q.message_id AS "messageId", r.address, q.updated_at AS "acceptedAt",
           (SELECT k.status
            FROM unusual_delivery_reports k
            WHERE k.run_id = q.run_id AND k.request = q.request AND k.position = r.position
            ORDER BY k.report_id DESC
            LIMIT 1) AS "lastStatus"
    FROM runs
    JOIN LATERAL requests_between(runs.run_id, ${everyRequest}) q ON q.state = 'accepted' AND q.updated_at <= $2
    CROSS JOIN ${recipientsOf('runs.run_id', 'q.request')} r
    WHERE runs.purged_at IS NULL AND CASE WHEN $1::text IS NULL THEN runs.kind = 'ordinary' ELSE runs.run_id = $1 END
      AND ($4::text[] IS NULL OR runs.account = ANY ($4))
      AND NOT EXISTS (
        SELECT FROM recipient_outcomes o
        WHERE o.run_id = q.run_id AND o.request = q.request AND o.position = r.position
      )
    ORDER BY q.updated_at, q.run_id, q.request, r.position
    LIMIT $3
  `;
  return streamRows(
    client,
    'missing',
    { sql, values: [run ?? null, until, limit ?? null, accounts ?? null] },
    1_000,
  );
}

/** @returns their number */
export async function listMissing(
  pool: pg.Pool,
  filter: MissingFilter,
  limit: number | undefined,
  onPage: (page: readonly MissingDeliveryReport[]) => void,
): Promise<number> {
  return readPages(pool, (client) => streamMissing(client, filter, limit), onPage);
}
