import type { Connection } from '../session.ts';

/**
 * SQL: how far the clock was set back since the row was last used. Its times must be set back as much.
 *
 * @param row an alias
 * @param now the time
 */
export const clockStepBack = (row: string, now: string): string =>
  `greatest(${row}.seen_at - ${now}, interval '0')`;

/** SQL. Processors of one machine can differ by less. */
const reportedFrom = `interval '100 milliseconds'`;

/** SQL of assignments: the time of use, and a step. */
export const recordClock = (row: string, now: string, step: string): string => `
  seen_at = ${now},
  stepped_at = CASE WHEN ${step} > ${reportedFrom} THEN ${now} ELSE ${row}.stepped_at END,
  stepped_by = CASE WHEN ${step} > ${reportedFrom} THEN ${step} ELSE ${row}.stepped_by END`;

export type ClockStep = {
  /** By the clock as it was then. */
  readonly at: Date;
  readonly seconds: number;
};

/** Finds the last step noticed in the account since the run was planned. */
export async function findClockStep(client: Connection, run: string): Promise<ClockStep | undefined> {
  const { rows } = await client.query<ClockStep>(
    `
    SELECT l.stepped_at AS at, extract(epoch FROM l.stepped_by)::float8 AS seconds
    FROM runs r
    JOIN rate_limits l USING (account)
    -- The run may have been planned by the clock before the step.
    WHERE r.run_id = $1 AND l.stepped_at + l.stepped_by >= r.created_at
    `,
    [run],
  );
  return rows[0];
}
