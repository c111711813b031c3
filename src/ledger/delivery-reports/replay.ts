import type { Connection } from '../session.ts';
import { maxEntryBytes, maxEntryReports } from './queue.ts';

export type Replay = {
  readonly account?: string | undefined;
  /** Only of these; null: all. */
  readonly accounts?: readonly string[] | null;
  readonly since?: Date | undefined;
  /** All reports, not only those that were unreadable, unmatched or failed. */
  readonly all: boolean;
};

/** Queues reports to be read again, also queued ones; none counts twice. @returns their number */
export async function requeueDeliveryReports(
  client: Connection,
  { account, accounts = null, since, all }: Replay,
  now: Date,
): Promise<number> {
  const { rows } = await client.query<{ readonly reports: number }>(
    `
    WITH replayed AS (
      SELECT report_id, octet_length(body) AS bytes
      FROM inbox i
      WHERE ($1::text IS NULL OR i.account = $1) AND ($5::text[] IS NULL OR i.account = ANY ($5))
        AND ($2::timestamptz IS NULL OR i.received_at >= $2)
        AND ($4 OR EXISTS (
          SELECT FROM unusual_delivery_reports k WHERE k.report_id = i.report_id AND k.state IN ('unreadable', 'unmatched', 'failed')
        ))
    ), queued AS (
      INSERT INTO inbox_queue (due_at, report_ids, bytes, reread)
      SELECT $3, array_agg(report_id ORDER BY report_id), sum(bytes), true
      FROM (
        SELECT report_id, bytes, sum(bytes) OVER in_order AS bytes_so_far, row_number() OVER in_order AS index
        FROM replayed
        WINDOW in_order AS (ORDER BY report_id ROWS UNBOUNDED PRECEDING)
      ) sized
      GROUP BY div(bytes_so_far, ${maxEntryBytes}), div(index, ${maxEntryReports})
      ORDER BY min(report_id)
    )
    SELECT count(*)::integer AS reports FROM replayed
    `,
    [account ?? null, since ?? null, now, all, accounts],
  );
  return rows[0]?.reports ?? 0;
}
