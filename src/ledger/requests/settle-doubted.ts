import { batchOf } from '../batch.ts';
import { openSlices } from '../billing/open-slices.ts';
import type { Connection } from '../session.ts';
import { type Settlement, settlementColumns } from './settlement.ts';

const batch = batchOf<Settlement>(settlementColumns);

/**
 * `in_doubt → accepted | rejected` for requests that were taken for lost, and are in doubt because of the very attempt
 * that was answered after all. One that was sent again before is in doubt for that too, so a rejection leaves it there.
 *
 * They were counted as settled, and not accepted, when they came into doubt.
 *
 * @returns the requests that were settled, by their place in the batch
 */
export async function settleDoubted(
  client: Connection,
  settlements: readonly Settlement[],
): Promise<readonly number[]> {
  const { rows } = await client.query<{ place: number }>(
    `
    WITH outcome AS MATERIALIZED (
      SELECT *
      FROM ${batch.table('outcome', 1, 'place')}
    ), settled AS (
      UPDATE requests q
      SET state = CASE WHEN q.resends > 0 AND o.state = 'rejected' THEN 'in_doubt' ELSE o.state END,
          reason = CASE WHEN q.resends > 0 AND o.state = 'rejected'
                     THEN jsonb_build_object('kind', 'resent', 'state', o.state, 'words', o.detail)
                     ELSE o.detail
                   END,
          updated_at = o.finished_at
      FROM outcome o
      WHERE q.run_id = o.run_id AND q.request = o.request AND q.state = 'in_doubt' AND q.attempts = o.attempt
        AND o.state IN ('accepted', 'rejected')
        AND EXISTS (SELECT FROM attempts a
                    WHERE a.run_id = o.run_id AND a.request = o.request AND a.attempt = o.attempt
                      AND a.owner = o.owner)
      RETURNING o.place, o.run_id, o.slice, o.request, q.state, o.divided AND q.state = 'rejected' AS divided
    ), opened AS (
      ${openSlices("(SELECT * FROM settled WHERE state <> 'in_doubt')")}
    ), counted AS (
      UPDATE slices s
      SET rejected = s.rejected + c.rejected, not_accepted = s.not_accepted - c.accounted_for
      FROM (
        SELECT run_id, slice, count(*) FILTER (WHERE state = 'rejected') AS rejected,
               count(*) FILTER (WHERE state = 'accepted' OR divided) AS accounted_for
        FROM settled
        GROUP BY run_id, slice
      ) c
      WHERE s.run_id = c.run_id AND s.slice = c.slice
    )
    SELECT (place - 1)::integer AS place FROM settled
    `,
    batch.values(settlements),
  );
  return rows.map(({ place }) => place);
}
