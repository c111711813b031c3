import type pg from 'pg';
import { readPages, streamRows } from '../cursor.ts';
import type { Snapshot } from '../session.ts';

/** An accepted recipient without a final delivery report. */
export type MissingDeliveryReport = {
  readonly run: string;
  readonly messageId: string;
  readonly address: string;
  readonly acceptedAt: Date;
  /** Of the last report, such as `Pending`; null: no report. */
  readonly lastStatus: string | null;
};

/** SQL: of the recipient `m`. */
const lastStatus = `
  (SELECT k.status
   FROM unusual_delivery_reports k
   WHERE k.run_id = m.run_id AND k.request = m.request AND k.position = m.position
   ORDER BY k.report_id DESC
   LIMIT 1) AS "lastStatus"`;

/**
 * SQL to join: recipients of accepted requests without an outcome, in a range of many requests. A FULL JOIN is hashed
 * or merged.
 */
const unreportedOf = (run: string, first: string, last: string): string => `LATERAL (
    SELECT u.*, message_id(n.run_number, n.message_key, u.request) AS message_id
    FROM (
      SELECT q.run_id, request, q.updated_at, r.position, r.address
      FROM (SELECT * FROM requests_between(${run}, ${first}, ${last}) WHERE state = 'accepted') q
      FULL JOIN (SELECT * FROM recipient_results_between(${run}, ${first}, ${last}) WHERE outcome IS NULL) r USING (request)
      OFFSET 0
    ) u
    JOIN runs n ON n.run_id = u.run_id
    WHERE u.position IS NOT NULL
  )`;

export type MissingFilter = {
  readonly run?: string | undefined;
  readonly accounts?: readonly string[] | null;
  readonly until: Date;
};

/** Reads the oldest acceptance first. */
export function streamMissing(
  client: Snapshot,
  { run, accounts, until }: MissingFilter,
  limit: number | undefined,
): AsyncGenerator<readonly MissingDeliveryReport[], void, undefined> {
  const sql = `
    SELECT m.run_id AS run, m.message_id AS "messageId", m.address, m.updated_at AS "acceptedAt",
           ${lastStatus}
    FROM runs
    JOIN slices s ON s.run_id = runs.run_id AND s.phase = 'sending'
    CROSS JOIN ${unreportedOf('s.run_id', 's.first_request', 's.last_request')} m
    WHERE m.updated_at <= $2 AND runs.purged_at IS NULL AND CASE WHEN $1::text IS NULL THEN runs.kind = 'ordinary' ELSE runs.run_id = $1 END
      AND ($4::text[] IS NULL OR runs.account = ANY ($4))
    ORDER BY m.updated_at, m.run_id, m.request, m.position
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

/** An accepted request with recipients that lack a final report. */
export type PollableRequest = {
  readonly run: string;
  readonly request: number;
  readonly messageId: string;
  readonly missing: readonly string[];
};

type PollFilter = {
  readonly account: string;
  readonly run?: string | undefined;
  readonly acceptedFrom: Date;
  readonly acceptedUntil: Date;
  readonly notPolledSince: Date;
};

/** Requests that were never polled come first, then those polled longest ago. */
export async function listPollable(
  pool: pg.Pool,
  { account, run, acceptedFrom, acceptedUntil, notPolledSince }: PollFilter,
  limit: number,
): Promise<PollableRequest[]> {
  const { rows } = await pool.query<PollableRequest>(
    `
    SELECT q.run_id AS run, q.request, q.message_id AS "messageId", q.missing
    FROM runs
    JOIN slices s ON s.run_id = runs.run_id AND s.phase = 'sending'
    CROSS JOIN LATERAL (
      SELECT m.run_id, m.request, m.message_id, m.updated_at, array_agg(m.address ORDER BY m.position) AS missing
      FROM ${unreportedOf('s.run_id', 's.first_request', 's.last_request')} m
      WHERE m.updated_at BETWEEN $3 AND $4
      GROUP BY m.run_id, m.request, m.message_id, m.updated_at
    ) q
    LEFT JOIN polls p ON p.run_id = q.run_id AND p.request = q.request
    WHERE runs.account = $1 AND ($2::text IS NULL OR runs.run_id = $2) AND runs.purged_at IS NULL
      -- A finished run accepted no request later.
      AND coalesce(runs.finished_at, 'infinity') >= $3
      AND (p.polled_at IS NULL OR p.polled_at <= $5)
    ORDER BY p.polled_at NULLS FIRST, q.updated_at, q.run_id, q.request
    LIMIT $6
    `,
    [account, run ?? null, acceptedFrom, acceptedUntil, notPolledSince, limit],
  );
  return rows;
}

export async function recordPoll(
  pool: pg.Pool,
  { run, request }: Pick<PollableRequest, 'run' | 'request'>,
  now: Date,
): Promise<void> {
  await pool.query(
    `
    INSERT INTO polls (run_id, request, polled_at) VALUES ($1, $2, $3)
    ON CONFLICT (run_id, request) DO UPDATE SET polled_at = excluded.polled_at
    `,
    [run, request, now],
  );
}
