import type pg from 'pg';
import type { SliceRange } from './slice-range.ts';

/** The lowest request of a slice that is planned, also one that another transaction is changing; none: `undefined`. */
export async function lowestPlanned(
  pool: pg.Pool,
  { run, first, last }: SliceRange,
): Promise<number | undefined> {
  const { rows } = await pool.query<{ request: number }>({
    name: 'lowest-planned',
    text: `
    SELECT request
    FROM requests
    WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'planned'
    ORDER BY request
    LIMIT 1
    `,
    values: [run, first, last],
  });
  return rows[0]?.request;
}
