import type { RunReason } from '../../domain/reasons.ts';
import type { Resolution, RunState } from '../../domain/runs.ts';
import { runReason, type Stored } from '../reasons.ts';
import type { ReadConnection } from '../session.ts';

export type ResolutionGroup = {
  readonly resolution: Resolution;
  readonly by: string;
  readonly reason: string;
  readonly requests: number;
  readonly at: Date;
};

export async function listResolutions(client: ReadConnection, run: string): Promise<ResolutionGroup[]> {
  const { rows } = await client.query<ResolutionGroup>(
    `
    SELECT resolution, resolved_by AS by, reason, count(*)::integer AS requests, max(resolved_at) AS at
    FROM resolutions
    WHERE run_id = $1
    GROUP BY resolution, resolved_by, reason
    ORDER BY at, resolution, resolved_by, reason
    `,
    [run],
  );
  return rows;
}

/** Delivery reports with another final outcome than the first. */
export type Conflicts = { readonly reports: number; readonly recipients: number };

export async function countConflicts(client: ReadConnection, run: string): Promise<Conflicts> {
  const { rows } = await client.query<Conflicts>(
    `
    SELECT count(*)::integer AS reports, count(DISTINCT (request, position))::integer AS recipients
    FROM unusual_delivery_reports
    WHERE run_id = $1 AND state = 'conflicting'
    `,
    [run],
  );
  return rows[0] ?? { reports: 0, recipients: 0 };
}

export type RunStateChange = {
  readonly state: RunState;
  readonly reason: RunReason | null;
  readonly at: Date;
};

export async function listStateChanges(client: ReadConnection, run: string): Promise<RunStateChange[]> {
  const { rows } = await client.query<Stored<RunStateChange>>(
    'SELECT state, reason, changed_at AS at FROM run_states WHERE run_id = $1 ORDER BY change',
    [run],
  );
  return rows.map((row) => ({ ...row, reason: runReason(row.reason) }));
}
