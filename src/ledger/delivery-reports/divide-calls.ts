import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';
import { maxEntryBytes, maxEntryReports } from './queue.ts';

/** A call in the inbox that has several reports. */
export type CallWithReports = {
  /** A bigint, as text. */
  readonly report: string;
  /** JSON, of a call with one of the reports each. */
  readonly bodies: readonly Buffer[];
};

type Part = { readonly report: string; readonly index: number; readonly body: Buffer };

const parts = batchOf<Part>({
  report_id: ['bigint', ({ report }) => report],
  index: ['integer', ({ index }) => index],
  body: ['bytea', ({ body }) => body],
});

/**
 * Replaces a call with several reports by a call for each, in the caller's transaction. Each then has a state of its
 * own, is applied once, and is erased with its own run. They count as arriving now, in the order of the list.
 */
export async function divideCalls(
  client: Transaction,
  calls: readonly CallWithReports[],
  now: Date,
): Promise<void> {
  if (calls.length === 0) return;
  const all = calls.flatMap(({ report, bodies }) =>
    bodies.map((body, index): Part => ({ report, index, body })),
  );
  await client.query(
    `
    WITH divided AS (
      DELETE FROM inbox WHERE report_id = ANY ($2::bigint[]) RETURNING report_id, account, received_at, headers
    ), forgotten AS (
      -- It was read before the account said where its reports stand.
      DELETE FROM unusual_delivery_reports WHERE report_id = ANY ($2::bigint[])
    ), added AS (
      INSERT INTO inbox (account, received_at, method, content_type, headers, body)
      SELECT d.account, d.received_at, 'POST', 'application/json', d.headers, p.body
      FROM ${parts.table('p', 3)}
      JOIN divided d USING (report_id)
      ORDER BY p.report_id, p.index
      RETURNING report_id, octet_length(body) AS bytes
    )
    INSERT INTO inbox_queue (due_at, report_ids, bytes)
    SELECT $1, array_agg(report_id ORDER BY report_id), sum(bytes)
    FROM (
      SELECT *, sum(bytes) OVER in_order AS bytes_so_far, row_number() OVER in_order AS index
      FROM added
      WINDOW in_order AS (ORDER BY report_id ROWS UNBOUNDED PRECEDING)
    ) sized
    GROUP BY div(bytes_so_far, ${maxEntryBytes}), div(index, ${maxEntryReports})
    `,
    [now, calls.map(({ report }) => report), ...parts.values(all)],
  );
}
