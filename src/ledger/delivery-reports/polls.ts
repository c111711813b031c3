import type pg from 'pg';
import { everyRequest } from '../request-rows.ts';

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
    SELECT q.run_id AS run, q.request, q.message_id AS "messageId",
           ARRAY(
             SELECT r.address
             FROM recipients_between(q.run_id, q.request, q.request) r
             WHERE NOT EXISTS (
               SELECT FROM recipient_outcomes o
               WHERE o.run_id = q.run_id AND o.request = q.request AND o.position = r.position
             )
             ORDER BY r.position
           ) AS missing
    FROM runs
    JOIN LATERAL requests_between(runs.run_id, ${everyRequest}) q USING (run_id)
    LEFT JOIN polls p USING (run_id, request)
    WHERE runs.account = $1 AND ($2::text IS NULL OR runs.run_id = $2) AND runs.purged_at IS NULL
      -- A finished run accepted no request later.
      AND coalesce(runs.finished_at, 'infinity') >= $3
      AND q.state = 'accepted' AND q.updated_at BETWEEN $3 AND $4
      AND (p.polled_at IS NULL OR p.polled_at <= $5)
      AND q.recipients > (
        SELECT count(*) FROM recipient_outcomes o WHERE o.run_id = q.run_id AND o.request = q.request
      )
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
