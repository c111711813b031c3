import { batchOf } from '../batch.ts';
import type { Connection, Transaction } from '../session.ts';
import type { RawReport } from './report-content.ts';

export type QueuedReport = RawReport & {
  /** Readings that matched no request. */
  readonly attempts: number;
  /** Whether it may have been read before. */
  readonly reread: boolean;
};

/** Bytes in a queue entry, without its last body. */
const maxEntryBytes = 1024 * 1024;

/** Reports in a queue entry. */
const maxEntryReports = 256;

/** SQL: groups rows of `report_id` and `bytes` into queue entries, in order of arrival. */
export const inEntries = (reports: string): string => `
    FROM (
      SELECT *, sum(bytes) OVER in_order AS bytes_so_far, row_number() OVER in_order AS index
      FROM ${reports}
      WINDOW in_order AS (ORDER BY report_id ROWS UNBOUNDED PRECEDING)
    ) sized
    GROUP BY div(bytes_so_far, ${maxEntryBytes}), div(index, ${maxEntryReports})`;

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
    ${inEntries('added')}
    `,
    [now, calls.map(({ report }) => report), ...parts.values(all)],
  );
}

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
      ${inEntries('replayed')}
      ORDER BY min(report_id)
    )
    SELECT count(*)::integer AS reports FROM replayed
    `,
    [account ?? null, since ?? null, now, all, accounts],
  );
  return rows[0]?.reports ?? 0;
}
