import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';
import type { RawReport } from './report-content.ts';

export type QueuedReport = RawReport & {
  /** Readings that matched no request. */
  readonly attempts: number;
  /** Whether it may have been read before. */
  readonly reread: boolean;
};

/** Bytes in a queue entry, without its last body. */
export const maxEntryBytes = 1024 * 1024;

/** Reports in a queue entry. */
export const maxEntryReports = 256;

/** Entries that one call locks; a busy one has dozens of reports. */
const maxEntries = 50;

/** Bytes in memory, without the last entry. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Dequeues the reports due longest, except entries locked by another applier.
 *
 * @param limit number of reports after which no more entries are dequeued
 */
export async function dequeueReports(client: Transaction, limit: number, now: Date): Promise<QueuedReport[]> {
  const { rows } = await client.query<QueuedReport>({
    name: 'dequeue-reports',
    text: `
    WITH dequeued AS (
      DELETE FROM inbox_queue
      WHERE entry = ANY (ARRAY(
        SELECT entry
        FROM (
          SELECT entry,
                 sum(bytes) OVER earlier AS bytes_before,
                 sum(cardinality(report_ids)) OVER earlier AS reports_before
          FROM (
            SELECT entry, due_at, bytes, report_ids
            FROM inbox_queue
            WHERE due_at <= $2
            ORDER BY due_at, entry
            LIMIT least($1, ${maxEntries})
            FOR UPDATE SKIP LOCKED
          ) due
          WINDOW earlier AS (ORDER BY due_at, entry ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
        ) counted
        WHERE coalesce(bytes_before, 0) < $3 AND coalesce(reports_before, 0) < $1
      ))
      RETURNING report_ids, attempts, reread
    )
    SELECT report_id AS report, account, received_at AS "receivedAt", method, content_type AS "contentType", body, attempts,
           reread
    FROM (
      -- A report replayed while it waited is in two entries.
      SELECT report_id, min(attempts) AS attempts, bool_or(reread) AS reread FROM dequeued, unnest(report_ids) report_id GROUP BY report_id
    ) reports
    JOIN inbox USING (report_id)
    ORDER BY report_id
    `,
    values: [limit, now, maxBytes],
  });
  return rows;
}

const waiting = batchOf<Pick<QueuedReport, 'report' | 'body' | 'attempts'>>({
  report_id: ['bigint', ({ report }) => report],
  bytes: ['bigint', ({ body }) => body.byteLength],
  attempts: ['integer', ({ attempts }) => attempts],
});

/** Queues reports with an unknown MessageID again: after a minute, then at doubling intervals for about three days. */
export async function requeueUnmatched(
  client: Transaction,
  unmatched: readonly Pick<QueuedReport, 'report' | 'body' | 'attempts'>[],
  now: Date,
): Promise<void> {
  const retried = unmatched.filter(({ attempts }) => attempts < maxAttempts);
  if (retried.length === 0) return;
  await client.query(
    `
    INSERT INTO inbox_queue (due_at, report_ids, bytes, attempts, reread)
    SELECT $1::timestamptz + interval '1 minute' * power(2, attempts), array_agg(report_id ORDER BY report_id),
           sum(bytes), attempts + 1, true
    FROM (
      SELECT *, sum(bytes) OVER (PARTITION BY attempts ORDER BY report_id) AS bytes_so_far
      FROM ${waiting.table('unmatched', 2)}
    ) sized
    GROUP BY attempts, div(bytes_so_far, ${maxEntryBytes})
    `,
    [now, ...waiting.values(retried)],
  );
}

const maxAttempts = 12;
