import { type Priority, priorities } from '../../domain/runs.ts';

/** Returns the number of a priority in the queue: normal is 0. */
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

/** SQL: the most urgent run that goes first, and of several the oldest; null if there is none. `run`: an alias. */
export const preemptingRun = (run: string): string => `(
    SELECT urgent.run_id ${preemptingRuns(run)}
    ORDER BY urgent.priority DESC, urgent.created_at
    LIMIT 1
  )`;
