import { sliceOf } from '../billing/changes.ts';

/**
 * SQL for the statement that changes the requests.
 *
 * @param sums SQL: a table of `run_id`, `slice`, and the amounts `settled`, `rejected`, `not_accepted`
 */
export function addToSliceCounts(sums: string): string {
  return `
    UPDATE slices s
    SET settled = s.settled + c.settled, rejected = s.rejected + c.rejected,
        not_accepted = s.not_accepted + c.not_accepted
    FROM (
      -- Lock in key order to avoid deadlocks.
      SELECT l.run_id, l.slice, sums.settled, sums.rejected, sums.not_accepted
      FROM ${sums} AS sums
      JOIN slices l USING (run_id, slice)
      WHERE sums.settled <> 0 OR sums.rejected <> 0 OR sums.not_accepted <> 0
      ORDER BY l.run_id, l.slice
      FOR NO KEY UPDATE OF l
    ) c
    WHERE s.run_id = c.run_id AND s.slice = c.slice`;
}

/** @param changed SQL: a table of `run_id`, `request`, and the amounts `settled`, `not_accepted` */
export function addRequestsToSliceCounts(changed: string): string {
  return addToSliceCounts(`(
        SELECT run_id, slice, sum(settled) AS settled, 0 AS rejected, sum(not_accepted) AS not_accepted
        FROM ${changed} AS changed
        CROSS JOIN ${sliceOf('changed')} AS of_request
        GROUP BY run_id, slice
      )`);
}
