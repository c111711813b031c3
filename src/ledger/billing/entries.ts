import { closedBefore } from './fold.ts';
import { figureColumns, keyColumns, pendingClauses } from './pending.ts';

const columns = [...keyColumns, 'booked', ...figureColumns].join(', ');

/** SQL of `WITH` clauses, ending with `entry`: all entries of billing, and what is not in them yet. */
export const entryClauses = `
  block AS MATERIALIZED (
    SELECT b.run_id, b.block
    FROM (
      SELECT run_id, block FROM billing_blocks WHERE open
      UNION
      SELECT run_id, block FROM billing_openings
    ) b
    JOIN runs r USING (run_id)
    WHERE r.state <> 'planned'
  ), change AS (
    SELECT * FROM billing_changes
  ), ${pendingClauses}, entry AS (
    SELECT ${columns} FROM billing_entries
    UNION ALL
    SELECT ${columns} FROM (SELECT *, greatest(sent, ${closedBefore}) AS booked FROM pending) pending
  )`;
