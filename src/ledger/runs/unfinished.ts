import type { RunReason } from '../../domain/reasons.ts';
import type { RunState } from '../../domain/runs.ts';
import { runReason, type Stored } from '../reasons.ts';
import type { Connection } from '../session.ts';

/** A run of a campaign that can still send. */
export type UnfinishedRun = {
  readonly run: string;
  readonly state: RunState;
  readonly stateReason: RunReason | null;
};

/**
 * The runs of a campaign that can still send, the newest first. Tests do not count.
 *
 * @param ignoredRuns such as the new run
 */
export async function listUnfinishedRunsOf(
  client: Connection,
  campaign: string,
  ignoredRuns: readonly string[],
): Promise<readonly UnfinishedRun[]> {
  const { rows } = await client.query<Stored<UnfinishedRun, 'stateReason'>>(
    `
    SELECT run_id AS run, state, state_reason AS "stateReason"
    FROM runs
    WHERE campaign = $1 AND state IN ('planned', 'running', 'paused') AND kind <> 'test'
      AND run_id <> ALL ($2::text[])
    ORDER BY created_at DESC, run_id DESC
    `,
    [campaign, ignoredRuns],
  );
  return rows.map((row) => ({ ...row, stateReason: runReason(row.stateReason) }));
}
