import { batchOf } from '../batch.ts';
import type { Connection, Transaction } from '../session.ts';
import type { QueuedReport } from './dequeue.ts';
import { type ReceivedCall, storeBlocks } from './receive.ts';

const waiting = batchOf<Pick<QueuedReport, 'report' | 'attempts'>>({
  report_id: ['bigint', ({ report }) => report],
  attempts: ['integer', ({ attempts }) => attempts],
});

/** Queues reports with an unknown MessageID again: after a minute, then at doubling intervals for about three days. */
export async function requeueUnmatched(
  client: Transaction,
  unmatched: readonly Pick<QueuedReport, 'report' | 'attempts'>[],
  now: Date,
): Promise<void> {
  const retried = unmatched.filter(({ attempts }) => attempts < maxAttempts);
  if (retried.length === 0) return;
  await client.query(
    `
    INSERT INTO inbox_waiting (due_at, first_report, last_report, report_ids, calls, bytes, attempts, reread)
    SELECT $1::timestamptz + interval '1 minute' * power(2, attempts), min(report_id), max(report_id),
           array_agg(report_id ORDER BY report_id), count(*), sum(bytes), attempts + 1, true
    FROM (
      SELECT *, sum(bytes) OVER (PARTITION BY attempts ORDER BY report_id) AS bytes_so_far
      FROM (${bytesToRead(`SELECT * FROM ${waiting.table('unmatched', 2)}`)}) unmatched
    ) sized
    GROUP BY attempts, div(bytes_so_far, ${maxEntryBytes})
    `,
    [now, ...waiting.values(retried)],
  );
}

const maxAttempts = 12;

/**
 * SQL: reports with the bytes that have to be read for each, and whether their calls are still there. A block is looked up
 * once, and read once for those of the same `attempts`.
 *
 * @param reports a query of `report_id` and `attempts`
 */
const bytesToRead = (reports: string): string => `
      WITH report AS MATERIALIZED (
        -- Calls of a block share this number (blocks_of).
        SELECT *, CASE WHEN report_id >= 68719476736 THEN report_id >> 8 << 8 ELSE report_id END AS number
        FROM (${reports}) r
      ), block AS MATERIALIZED (
        SELECT n.number, b.first_report, b.calls, b.bytes, b.offsets
        FROM (SELECT number, block_of(number) AS first_report FROM report GROUP BY number) n
        JOIN inbox_blocks b USING (first_report)
      )
      SELECT *, coalesce(
               octet_length(body),
               CASE WHEN row_number() OVER (PARTITION BY attempts, first_report, has_call ORDER BY report_id) = 1
                    THEN block_bytes END,
               0
             ) AS bytes
      FROM (
        SELECT r.report_id, r.attempts, b.first_report, b.bytes AS block_bytes, i.body,
               i.report_id IS NOT NULL
                 OR coalesce(r.report_id - b.first_report = ANY (b.offsets), r.report_id < b.first_report + b.calls, false) AS has_call
        FROM report r
        LEFT JOIN block b USING (number)
        LEFT JOIN inbox i ON i.report_id = r.report_id
      ) l`;

/** Bytes of the bodies in a queue entry, without its last one. */
const maxEntryBytes = 1024 * 1024;

/** A call in the inbox that has several reports. */
export type CallWithReports = {
  /** A bigint, as text. */
  readonly report: string;
  /** JSON, of a call with one of the reports each. */
  readonly bodies: readonly Buffer[];
};

/**
 * Replaces a call with several reports by a call for each, in the caller's transaction. Each then has a state of its
 * own, is applied once, and is erased with its own run. They get ids as if they arrived now, in the order of the list.
 */
export async function divideCalls(client: Transaction, calls: readonly CallWithReports[]): Promise<void> {
  if (calls.length === 0) return;
  const divided = calls.map(({ report }) => report);
  // They may have been read before the account said where its reports stand.
  await client.query('DELETE FROM unusual_delivery_reports WHERE report_id = ANY ($1::bigint[])', [divided]);
  const { rows } = await client.query<Omit<ReceivedCall, 'method' | 'body'> & { readonly report: string }>(
    `
    SELECT CAST(report_id AS text) AS report, account, received_at AS "receivedAt", 'application/json' AS "contentType", headers
    FROM calls_of($1::bigint[])
    `,
    [divided],
  );
  const found = new Map(rows.map(({ report, ...call }) => [report, call]));
  const parts = calls.flatMap(({ report, bodies }) => {
    const call = found.get(report);
    return call ? bodies.map((body): ReceivedCall => ({ ...call, method: 'POST', body })) : [];
  });
  await storeBlocks(client, parts);
  await client.query('SELECT erase_calls($1::bigint[])', [divided]);
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
    WITH replayed AS MATERIALIZED (${all ? everyCall : unresolvedCalls}
    ), queued AS (
      INSERT INTO inbox_waiting (due_at, first_report, last_report, report_ids, calls, bytes, reread)
      SELECT $3, min(report_id), max(report_id), array_agg(report_id ORDER BY report_id), count(*), sum(bytes), true
      FROM (
        SELECT *, sum(bytes) OVER in_order AS bytes_so_far, row_number() OVER in_order AS place
        FROM replayed
        WINDOW in_order AS (ORDER BY report_id ROWS UNBOUNDED PRECEDING)
      ) sized
      GROUP BY div(bytes_so_far, ${maxEntryBytes}), div(place, ${maxReplayed})
      ORDER BY min(report_id)
    )
    SELECT count(*)::integer AS reports FROM replayed
    `,
    [account ?? null, since ?? null, now, accounts],
  );
  return rows[0]?.reports ?? 0;
}

/** Reports of a replay in an entry. */
const maxReplayed = 256;

/** SQL: the calls of these accounts ($1: one, $4: a list) since a time ($2). An index finds the blocks. */
const everyCall = `
      SELECT c.report_id, octet_length(c.body) AS bytes
      FROM (
        SELECT c.*
        FROM inbox_blocks b
        CROSS JOIN LATERAL calls_in(b) c
        WHERE $2::timestamptz IS NULL OR b.last_received_at >= $2
        UNION ALL
        SELECT report_id, account, received_at, method, content_type, headers, body FROM inbox
      ) c
      WHERE ($1::text IS NULL OR c.account = $1) AND ($4::text[] IS NULL OR c.account = ANY ($4))
        AND ($2 IS NULL OR c.received_at >= $2)`;

/** SQL: those of them that were read and decided nothing. Each can be in a block of many. */
const unresolvedCalls = `
      SELECT report_id, bytes
      FROM (${bytesToRead(`
        SELECT report_id, 0 AS attempts
        FROM unusual_delivery_reports
        WHERE state IN ('unreadable', 'unmatched', 'failed')
          AND ($1::text IS NULL OR account = $1) AND ($4::text[] IS NULL OR account = ANY ($4))
          AND ($2::timestamptz IS NULL OR received_at >= $2)`)}
      ) k
      WHERE has_call`;
