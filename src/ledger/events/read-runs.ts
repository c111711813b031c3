import type { RunState } from '../../domain/runs.ts';
import { runReason, type Stored } from '../reasons.ts';
import type { Transaction } from '../session.ts';
import type { ResolvedRequests, StateChange } from './event.ts';
import { isRecent, type ReadRow } from './recent.ts';

export type FollowedRun = { readonly run: string; readonly state: RunState; readonly heldSlices: number };

/** Ended runs that are followed with those that are not over: their requests may be resolved. */
const newestRuns = 20;

/** Lists one run, or all that are not over and the newest ones. */
export async function listFollowedRuns(client: Transaction, run: string | undefined): Promise<FollowedRun[]> {
  const { rows } = await client.query<FollowedRun>(
    `
    SELECT r.run_id AS run, r.state,
           (SELECT count(*)::integer FROM slices s WHERE s.run_id = r.run_id AND s.state = 'held') AS "heldSlices"
    FROM runs r
    WHERE CASE WHEN $1::text IS NULL
               THEN r.state IN ('planned', 'running', 'paused')
                    OR r.run_id = ANY (ARRAY(SELECT n.run_id FROM runs n ORDER BY n.created_at DESC LIMIT ${newestRuns}))
               ELSE r.run_id = $1
          END
    `,
    [run ?? null],
  );
  return rows;
}

export type ReadStateChange = ReadRow<StateChange> & { readonly change: string };

export async function readStateChanges(
  client: Transaction,
  runs: readonly string[],
  oldest: string | null,
): Promise<ReadStateChange[]> {
  const { rows } = await client.query<Stored<ReadStateChange>>(
    `
    SELECT CAST(CAST(s.xmin AS text) AS float8) AS transaction, s.change, s.run_id AS run, s.changed_at AS at, s.state,
           s.reason
    FROM run_states s
    WHERE s.run_id = ANY ($1) AND ${isRecent('s', '$2')}
    ORDER BY s.change
    `,
    [runs, oldest],
  );
  return rows.map((row) => ({ ...row, reason: runReason(row.reason) }));
}

export type ReadResolution = ReadRow<ResolvedRequests>;

/** Reads decisions of operators. The rows of one decision share their time. */
export async function readResolutions(
  client: Transaction,
  runs: readonly string[],
  oldest: string | null,
): Promise<ReadResolution[]> {
  const { rows } = await client.query<ReadResolution>(
    `
    SELECT max(CAST(CAST(s.xmin AS text) AS float8)) AS transaction, s.run_id AS run, s.resolved_at AS at,
           array_agg(s.request ORDER BY s.request) AS requests, s.resolution, s.resolved_by AS by, s.reason AS words
    FROM resolutions s
    WHERE s.run_id = ANY ($1) AND ${isRecent('s', '$2')}
    GROUP BY s.run_id, s.resolved_at, s.resolution, s.resolved_by, s.reason
    `,
    [runs, oldest],
  );
  return rows;
}
