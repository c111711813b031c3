import type pg from 'pg';

/**
 * By how much the database's clock was set back since an account's row was last reckoned with; zero when it went on. What is
 * owed by the row's times is owed from `seen_at` on, so they are to be set back as much.
 *
 * @param row SQL of the row, such as `l`; `now` SQL of the time
 */
export const clockStepBack = (row: string, now: string): string =>
  `greatest(${row}.seen_at - ${now}, interval '0')`;

/** Of less, nobody is told: two processors of a machine may differ by as much. SQL. */
const reportedFrom = `interval '100 milliseconds'`;

/** SQL of assignments: that the row was reckoned with now, and by how much the clock had stepped back. */
export const recordClock = (row: string, now: string, step: string): string => `
  seen_at = ${now},
  stepped_at = CASE WHEN ${step} > ${reportedFrom} THEN ${now} ELSE ${row}.stepped_at END,
  stepped_by = CASE WHEN ${step} > ${reportedFrom} THEN ${step} ELSE ${row}.stepped_by END`;

/** The database's clock was set back. */
export type ClockStep = {
  /** By the clock as it was then. */
  readonly at: Date;
  readonly seconds: number;
};

/** The last step that was found while the run's account was used, since the run was planned. */
export async function findClockStep(pool: pg.Pool, run: string): Promise<ClockStep | undefined> {
  const { rows } = await pool.query<ClockStep>(
    `
    SELECT l.stepped_at AS at, extract(epoch FROM l.stepped_by)::float8 AS seconds
    FROM runs r
    JOIN rate_limits l USING (account)
    -- The run may have been planned by the clock as it was before.
    WHERE r.run_id = $1 AND l.stepped_at + l.stepped_by >= r.created_at
    `,
    [run],
  );
  return rows[0];
}
