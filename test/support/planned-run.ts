import { expect } from 'vitest';
import type { RunSummary } from '../../src/domain/runs.ts';
import type { DispatchScene } from './dispatch-scene.ts';
import type { Started } from './volley.ts';

/** Waits until `volley run` prints the planned run. */
export async function plannedRun(started: Pick<Started, 'waitForText' | 'stderrSoFar'>): Promise<string> {
  await started.waitForText('planned  run');
  return /planned {2}run (\S+):/.exec(started.stderrSoFar())?.[1] ?? expect.fail(started.stderrSoFar());
}

export async function statusOf({ runHere }: DispatchScene, run: string): Promise<RunSummary> {
  const { stdout, stderr } = await runHere(['status', run, '--json']);
  return stdout === '' ? expect.fail(stderr) : JSON.parse(stdout);
}

/** Resolves with the time (epoch milliseconds) when the run was first seen in this state. */
export async function waitForRunState(
  { ledger }: DispatchScene,
  run: string,
  state: string,
): Promise<number> {
  const sql = 'SELECT FROM runs WHERE run_id = $1 AND state = $2';
  while ((await ledger.ledger.pool.query(sql, [run, state])).rowCount === 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return Date.now();
}
