import type { ReadConnection } from '../session.ts';
import { unacceptedReports } from './run-counts.ts';

/** What came of a run so far, for lists of runs: as `RunCounts` says it. */
export type RunOutcome = {
  /** Recipients of accepted requests, and others of sent ones with a delivery report. */
  readonly accepted: number;
  readonly delivered: number;
  readonly unknown: number;
};

/** SQL: `RunOutcome` of a run as JSON, from the counts. */
export function outcomeOfRun(run: string): string {
  return `(
    SELECT json_build_object('accepted', accepted + reported, 'delivered', delivered - unsent, 'unknown', unknown - known)
    FROM (
      SELECT coalesce(sum(recipients) FILTER (WHERE counted = 'accepted'), 0)
             + (SELECT coalesce(sum(accepted_recipients), 0) FROM slices WHERE run_id = ${run}) AS accepted,
             coalesce(sum(recipients) FILTER (WHERE counted = 'delivered'), 0) AS delivered,
             coalesce(sum(recipients) FILTER (WHERE counted IN ('in_doubt', 'abandoned')), 0) AS unknown
      FROM run_counts
      WHERE run_id = ${run}
    ) counted
    CROSS JOIN (
      SELECT coalesce(sum(delivered + undelivered) FILTER (WHERE NOT is_unsent), 0) AS reported,
             coalesce(sum(delivered) FILTER (WHERE is_unsent), 0) AS unsent,
             coalesce(sum(delivered + undelivered) FILTER (WHERE state IN ('in_doubt', 'abandoned')), 0) AS known
      FROM ${unacceptedReports(run)}
    ) early
  )`;
}

/** SQL: the five runs of a campaign before one that are completed, of its account and not tests. */
export function formerRuns(
  before: Readonly<Record<'campaign' | 'account' | 'createdAt' | 'run', string>>,
): string {
  return `
    SELECT run_id
    FROM runs b
    WHERE b.campaign = ${before.campaign} AND b.account = ${before.account} AND b.kind = 'ordinary' AND b.state = 'completed'
      AND (b.created_at, b.run_id) < (${before.createdAt}, ${before.run})
    ORDER BY b.created_at DESC, b.run_id DESC
    LIMIT 5`;
}

/** Newest first. @param before empty `run`: one that would be planned now */
export async function listFormerRuns(
  client: ReadConnection,
  before: {
    readonly campaign: string;
    readonly account: string;
    readonly createdAt: Date;
    readonly run: string;
  },
): Promise<readonly string[]> {
  const { rows } = await client.query<{ readonly run: string }>(
    `SELECT run_id AS run FROM (${formerRuns({ campaign: '$1', account: '$2', createdAt: '$3::timestamptz', run: '$4' })}) former`,
    [before.campaign, before.account, before.createdAt, before.run],
  );
  return rows.map(({ run }) => run);
}

/** What came of the last runs of a campaign before one of its runs. */
export type FormerRuns = Pick<RunOutcome, 'accepted' | 'delivered'> & { readonly runs: number };

/** Adds up the runs before this one (`formerRuns`). */
export async function readFormerRuns(client: ReadConnection, run: string): Promise<FormerRuns> {
  const { rows } = await client.query<FormerRuns>(
    `
    SELECT count(*)::integer AS runs, coalesce(sum((outcome ->> 'accepted')::integer), 0)::float8 AS accepted,
           coalesce(sum((outcome ->> 'delivered')::integer), 0)::float8 AS delivered
    FROM (
      SELECT ${outcomeOfRun('former.run_id')} AS outcome
      FROM runs r
      CROSS JOIN LATERAL (${formerRuns({ campaign: 'r.campaign', account: 'r.account', createdAt: 'r.created_at', run: 'r.run_id' })}
      ) former
      WHERE r.run_id = $1
    ) f
    `,
    [run],
  );
  return rows[0] ?? { runs: 0, accepted: 0, delivered: 0 };
}
