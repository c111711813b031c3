import type { Connection } from '../session.ts';

/**
 * Recipients of requests that were not claimed, or wait for another attempt. Reads the number of recipients of a block,
 * not each recipient.
 */
export async function countUnsentRecipients(client: Connection, run: string): Promise<number> {
  const { rows } = await client.query<{ readonly recipients: number }>(
    `
    WITH unclaimed AS MATERIALIZED (
      SELECT s.first_request, s.last_request, s.claimed_to
      FROM slices s
      WHERE s.run_id = $1 AND s.phase = 'sending' AND s.claimed_to < s.last_request
    )
    SELECT (
      (
        SELECT coalesce(sum(
          CASE WHEN c.first_request > u.claimed_to THEN cardinality(c.positions)
               ELSE (SELECT sum(size) FROM unnest(c.sizes[u.claimed_to - c.first_request + 2 :]) AS size)
          END
        ), 0)
        FROM unclaimed u
        JOIN contents c ON c.run_id = $1 AND c.first_request BETWEEN u.first_request AND u.last_request
        WHERE c.last_request > u.claimed_to
      ) - (
        -- Counted by its own state.
        SELECT coalesce(sum(q.recipients), 0)
        FROM unclaimed u
        JOIN requests q ON q.run_id = $1 AND q.request > u.claimed_to AND q.request <= u.last_request
      ) + (
        SELECT coalesce(sum(q.recipients), 0) FROM requests q WHERE q.run_id = $1 AND q.state = 'planned'
      )
    )::integer AS recipients
    `,
    [run],
  );
  return rows[0]?.recipients ?? 0;
}
