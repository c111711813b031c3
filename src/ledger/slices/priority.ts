import { type Priority, priorities } from '../../domain/runs.ts';
import type { Connection } from '../session.ts';

/** The number of a priority in the queue: normal is 0. */
export function rankOf(priority: Priority): number {
  return priorities.indexOf(priority) - priorities.indexOf('normal');
}

/** SQL: more urgent runs of the same account with queued or held slices. `run`: an alias. */
const preemptingRuns = (run: string): string => `
  FROM runs urgent
  WHERE urgent.account = ${run}.account AND urgent.priority > ${run}.priority
    AND urgent.state IN ('planned', 'running')
    AND EXISTS (
      SELECT FROM slices q
      WHERE q.run_id = urgent.run_id AND q.phase = 'sending' AND q.state IN ('queued', 'held')
    )`;

/** SQL: whether a more urgent run goes first. `run`: an alias. */
export const isPreempted = (run: string): string => `EXISTS (SELECT ${preemptingRuns(run)})`;

/** Finds the most urgent run that goes first, and of several the oldest. */
export async function findPreemptingRun(client: Connection, run: string): Promise<string | undefined> {
  const { rows } = await client.query<{ run: string }>(
    `
    SELECT preempting.run_id AS run
    FROM runs r, LATERAL (SELECT urgent.run_id, urgent.priority, urgent.created_at ${preemptingRuns('r')}) preempting
    WHERE r.run_id = $1 AND r.state IN ('planned', 'running')
    ORDER BY preempting.priority DESC, preempting.created_at
    LIMIT 1
    `,
    [run],
  );
  return rows[0]?.run;
}
