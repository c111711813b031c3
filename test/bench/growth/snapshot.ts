import pg from 'pg';
import type { Workload } from '../dispatch/workload.ts';
import { inRounds } from '../rounds.ts';
import { type GrowthBench, measureRun, type RunUse } from './measure-run.ts';

/** Runs before the snapshot is taken, and those of the end that are compared with them. */
const comparedRuns = 3;

export type SnapshotUse = {
  readonly before: readonly RunUse[];
  /** The last ones while it was held. */
  readonly held: readonly RunUse[];
  /** While it was held. */
  readonly runs: number;
};

/** Sends runs one after the other, at first without a snapshot, then while a forgotten session holds one. */
export async function measureSnapshot(
  bench: GrowthBench,
  workload: Workload,
  minutes: number,
): Promise<SnapshotUse> {
  const sendOne = () => measureRun(bench, workload, { reports: false, purge: false });
  const before = await inRounds(comparedRuns, sendOne);
  const forgotten = new pg.Client({ connectionString: bench.workspace.databaseUrl });
  await forgotten.connect();
  try {
    await forgotten.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await forgotten.query('SELECT count(*) FROM runs');
    const until = Date.now() + minutes * 60_000;
    const held: RunUse[] = [];
    while (Date.now() < until || held.length < comparedRuns) held.push(await sendOne());
    return { before, held: held.slice(-comparedRuns), runs: held.length };
  } finally {
    await forgotten.end();
  }
}
