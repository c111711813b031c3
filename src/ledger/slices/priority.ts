import { type Priority, priorities } from '../../domain/runs.ts';
import type { Connection } from '../session.ts';

/** Priorities as numbers that can be compared: normal is 0, as in the queue. */
export function rankOf(priority: Priority): number {
  return priorities.indexOf(priority) - priorities.indexOf('normal');
}

/** Runs that go before a run: more urgent ones of its account with something in the queue or in hand. `run` is SQL. */
const preemptingRuns = (run: string): string => `
  FROM runs urgent
  WHERE urgent.account = ${run}.account AND urgent.priority > ${run}.priority
    AND urgent.state IN ('planned', 'running')
    AND EXISTS (
      SELECT FROM slices q
      WHERE q.run_id = urgent.run_id AND q.phase = 'sending' AND q.state IN ('queued', 'held')
    )`;

/** Whether nothing of a run is to be sent now, because others go before it. `run` is SQL. */
export const isPreempted = (run: string): string => `EXISTS (SELECT ${preemptingRuns(run)})`;

/** The run that a run waits for: the most urgent one that goes before it, and of those the oldest. */
export async function findPreemptingRun(client: Connection, run: string): Promise<string | undefined> {
  const { rows } = await client.query<{ run: string }>(
    `
    SELECT before.run_id AS run
    FROM runs r, LATERAL (SELECT urgent.run_id, urgent.priority, urgent.created_at ${preemptingRuns('r')}) before
    WHERE r.run_id = $1 AND r.state IN ('planned', 'running')
    ORDER BY before.priority DESC, before.created_at
    LIMIT 1
    `,
    [run],
  );
  return rows[0]?.run;
}
