import type { RunReason } from '../../domain/reasons.ts';
import type { Resolution, RunKind, RunState, RunSummary } from '../../domain/runs.ts';
import { readRunCounts } from '../counts/run-counts.ts';
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

/** What does not change after planning. */
type PlannedRun = {
  readonly campaign: string;
  readonly kind: RunKind;
  readonly read: number;
  readonly invalid: number;
  readonly duplicate: number;
  readonly suppressed: number;
  readonly beyondLimit: number | null;
};

export async function summariseRun(client: ReadConnection, run: string): Promise<RunSummary | undefined> {
  const { rows } = await client.query<PlannedRun>(
    `
    SELECT campaign, kind, contacts_read AS read, contacts_invalid AS invalid, contacts_duplicate AS duplicate,
           contacts_suppressed AS suppressed, contacts_beyond_limit AS "beyondLimit"
    FROM runs
    WHERE run_id = $1
    `,
    [run],
  );
  const [planned] = rows;
  const counts = (await readRunCounts(client, [run])).get(run);
  if (!planned || !counts) return undefined;
  const { campaign, kind, beyondLimit, ...contacts } = planned;
  const { state, requests, recipients, reportedUnsent } = counts;
  return {
    run,
    campaign,
    kind,
    state,
    contacts: { ...contacts, ...(beyondLimit === null ? {} : { beyondLimit }) },
    requests,
    recipients,
    ...(reportedUnsent > 0 && { reportedUnsent }),
  };
}
