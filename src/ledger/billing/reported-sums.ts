import type { RequestState } from '../../domain/runs.ts';
import type { Connection } from '../session.ts';

/** Recipients with a final delivery report. */
export type ReportedSums = { readonly delivered: number; readonly undelivered: number };

/**
 * Adds up what is booked and what is not booked yet, so it counts no recipients: a million with one payer in some
 * milliseconds. It equals a count of `recipient_outcomes`, also of requests that were never sent.
 */
export async function sumReported(client: Connection, run: string): Promise<ReportedSums> {
  const { rows } = await client.query<ReportedSums>({
    name: 'sum-reported',
    text: `
      SELECT coalesce(sum(delivered), 0)::integer AS delivered, coalesce(sum(undelivered), 0)::integer AS undelivered
      FROM (
        SELECT delivered + unsent_delivered AS delivered, undelivered + unsent_undelivered AS undelivered
        FROM billing_entries
        WHERE run_id = $1
        UNION ALL
        SELECT delivered, undelivered FROM billing_changes WHERE run_id = $1
        UNION ALL
        SELECT n.delivered, n.undelivered
        FROM billing_outcomes o
        CROSS JOIN LATERAL (
          SELECT sum(u.delivered) AS delivered, sum(u.undelivered) AS undelivered
          FROM unnest(o.delivered, o.undelivered) AS u (delivered, undelivered)
        ) n
        WHERE o.run_id = $1
      ) each
    `,
    values: [run],
  });
  return rows[0] ?? { delivered: 0, undelivered: 0 };
}

/** Those of requests that were never sent (the rule of `change-sums.ts`): of most runs none. */
export async function countReportedUnsent(client: Connection, run: string): Promise<ReportedSums> {
  const { rows } = await client.query<ReportedSums>({
    name: 'count-reported-unsent',
    text: `
      SELECT (count(*) FILTER (WHERE outcome = 'delivered'))::integer AS delivered,
             (count(*) FILTER (WHERE outcome = 'undelivered'))::integer AS undelivered
      FROM (
        SELECT o.outcome
        FROM slices s
        CROSS JOIN LATERAL (
          SELECT request, outcome
          FROM recipient_outcomes
          WHERE run_id = $1 AND request BETWEEN greatest(s.first_request, s.claimed_to + 1) AND s.last_request
          OFFSET 0
        ) o
        WHERE s.run_id = $1 AND s.phase = 'sending' AND s.claimed_to < s.last_request
          AND NOT EXISTS (SELECT FROM requests q WHERE q.run_id = $1 AND q.request = o.request)
        UNION ALL
        SELECT o.outcome
        FROM requests q
        JOIN recipient_outcomes o USING (run_id, request)
        WHERE q.run_id = $1 AND q.attempts = 0 AND q.state IN ('planned', 'cancelled')
      ) unsent
    `,
    values: [run],
  });
  return rows[0] ?? { delivered: 0, undelivered: 0 };
}

/**
 * Those of requests that have rows, were sent, and are not accepted, by state: a service can report on a request that
 * it rejected. Takes 2 µs for each such request.
 */
export async function countReportedOfFailed(
  client: Connection,
  run: string,
): Promise<(ReportedSums & { readonly state: RequestState })[]> {
  const { rows } = await client.query<ReportedSums & { readonly state: RequestState }>({
    name: 'count-reported-of-failed',
    text: `
      SELECT q.state, (count(*) FILTER (WHERE o.outcome = 'delivered'))::integer AS delivered,
             (count(*) FILTER (WHERE o.outcome = 'undelivered'))::integer AS undelivered
      FROM requests q
      JOIN recipient_outcomes o USING (run_id, request)
      WHERE q.run_id = $1 AND q.state <> 'accepted' AND o.outcome <> 'cancelled'
        AND NOT (q.attempts = 0 AND q.state IN ('planned', 'cancelled'))
      GROUP BY q.state
    `,
    values: [run],
  });
  return rows;
}
