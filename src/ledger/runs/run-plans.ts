import type { RunState } from '../../domain/runs.ts';
import type { Connection, Transaction } from '../session.ts';

/**
 * Records that a run was made from a plan file, once per plan. A second run of the plan waits here until the first one
 * commits.
 *
 * @param plan the id in the plan file
 * @returns whether the plan had no run
 */
export async function recordPlanOfRun(client: Transaction, plan: string, run: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'INSERT INTO run_plans (plan, run_id) VALUES ($1, $2) ON CONFLICT (plan) DO NOTHING',
    [plan, run],
  );
  return rowCount === 1;
}

export async function findRunOfPlan(
  client: Connection,
  plan: string,
): Promise<{ readonly run: string; readonly state: RunState } | undefined> {
  const { rows } = await client.query<{ run: string; state: RunState }>(
    'SELECT run_id AS run, state FROM run_plans JOIN runs USING (run_id) WHERE plan = $1',
    [plan],
  );
  return rows[0];
}
