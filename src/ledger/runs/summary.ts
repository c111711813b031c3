import type { RunKind, RunSummary } from '../../domain/runs.ts';
import { readRunCounts } from '../counts/run-counts.ts';
import type { ReadConnection } from '../session.ts';

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
