import type { Transaction } from '../session.ts';

/**
 * Notes for each target of a run that asks for it that the run was completed, with or without failures, or paused, in the
 * transaction that makes it so. One is noted for each change: a run that is paused twice is reported twice.
 *
 * @param change of run_states
 */
export async function noteRunChange(client: Transaction, run: string, change: string): Promise<void> {
  // Only slices that have counted something else than acceptance are looked into: a run may have millions of requests.
  await client.query(
    `
    INSERT INTO notifications (run_id, change, place, event, target, campaign_file, reason, noted_at)
    SELECT c.run_id, c.change, each.place, happened.event, each.target, l.campaign_file, c.reason, c.changed_at
    FROM run_states c
    JOIN notify_lists l ON l.run_id = c.run_id
    CROSS JOIN LATERAL (
      SELECT CASE
        WHEN c.state = 'paused' THEN 'paused'
        WHEN EXISTS (
          SELECT FROM slices s
          JOIN requests q ON q.run_id = s.run_id AND q.request BETWEEN s.first_request AND s.last_request
          WHERE s.run_id = c.run_id AND (s.rejected > 0 OR s.not_accepted > 0)
            AND q.state IN ('rejected', 'failed', 'in_doubt', 'abandoned')
        ) THEN 'failures'
        ELSE 'completed'
      END AS event
    ) happened
    CROSS JOIN LATERAL jsonb_array_elements(l.targets) WITH ORDINALITY AS each (target, place)
    WHERE c.run_id = $1 AND c.change = $2 AND each.target -> 'on' @> to_jsonb(happened.event)
    `,
    [run, change],
  );
}
