import { closedUntil } from './book.ts';
import { pendingChanges, sliceOf } from './changes.ts';
import { figureColumns, keyColumns, pendingClauses } from './pending-sums.ts';

const columns = [...keyColumns, 'booked', ...figureColumns].join(', ');

/** SQL of `WITH` clauses that end with `entry`: all entries, booked and pending. */
export const entryClauses = `
  open_slice AS MATERIALIZED (
    SELECT b.run_id, b.slice
    FROM (
      SELECT run_id, slice FROM billing_slices WHERE open
      UNION
      SELECT o.run_id, s.slice FROM billing_reopened_requests o CROSS JOIN ${sliceOf('o')} s
    ) b
    JOIN runs r USING (run_id)
    WHERE r.state <> 'planned'
  ), change AS (
    ${pendingChanges('billing_changes', 'billing_outcomes')}
  ), ${pendingClauses}, entry AS (
    SELECT ${columns} FROM billing_entries
    UNION ALL
    SELECT ${columns} FROM (SELECT *, greatest(sent, ${closedUntil}) AS booked FROM pending) pending
  )`;
