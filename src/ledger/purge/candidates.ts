import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { readRunCounts } from '../counts/run-counts.ts';
import type { Transaction } from '../session.ts';
import { hasOpenRest } from '../watch/rests.ts';

export type PurgeLimit = {
  /** Selects runs that ended before this time, and reports and suppressions that arrived before it. */
  readonly before: Date;
  /** Also selects runs with requests in doubt, which cannot be sent again after a purge. */
  readonly alsoInDoubt: boolean;
};

/** Why a run is kept. `open_rest`: contacts of it wait for its winner. `in_use`: another process makes a run from it. */
export type PurgeHold =
  | 'not_over'
  | 'open_rest'
  | 'unsent'
  | 'in_doubt'
  | 'younger_run'
  | 'unbooked'
  | 'in_use';

/** A run that is old enough. `held`: why it is kept; null: it is purged. */
export type PurgeCandidate = {
  readonly run: string;
  readonly campaign: string;
  readonly state: RunState;
  readonly createdAt: Date;
  readonly requests: number;
  readonly recipients: number;
  /** Of them, accepted ones without a final delivery report. */
  readonly unreported: number;
  readonly held: PurgeHold | null;
};

/** SQL: whether requests of `runs r` are in doubt. */
export const isInDoubt = `
  coalesce((SELECT sum(requests) FROM run_counts WHERE run_id = r.run_id AND counted = 'in_doubt'), 0) > 0`;

/** SQL: whether billing lacks something of `runs r`. */
export const isUnbooked = `(
  EXISTS (SELECT FROM billing_slices b WHERE b.run_id = r.run_id AND b.open)
  OR EXISTS (SELECT FROM billing_reopened_requests b WHERE b.run_id = r.run_id)
  OR EXISTS (SELECT FROM billing_changes b WHERE b.run_id = r.run_id)
  OR EXISTS (SELECT FROM billing_outcomes b WHERE b.run_id = r.run_id)
)`;

/** SQL: why a run of `runs r` is kept, else null. $1 and $2 are the limit; $3 says whether unbooked runs may go. */
const holdCase = `
  CASE
    WHEN r.purging OR r.purged_at IS NOT NULL THEN NULL
    WHEN r.state NOT IN ('completed', 'cancelled') THEN 'not_over'
    WHEN r.state = 'completed' AND ${hasOpenRest('r.run_id')} THEN 'open_rest'
    WHEN EXISTS (SELECT FROM request_states q WHERE q.run_id = r.run_id AND q.state IN ('planned', 'sending'))
      THEN 'unsent'
    WHEN NOT $2 AND ${isInDoubt} THEN 'in_doubt'
    WHEN EXISTS (
      WITH RECURSIVE later AS (
        SELECT run_id, state, finished_at FROM runs WHERE source_run = r.run_id
        UNION ALL
        SELECT s.run_id, s.state, s.finished_at FROM runs s JOIN later l ON s.source_run = l.run_id
      )
      SELECT FROM later
      WHERE state NOT IN ('completed', 'cancelled') OR finished_at IS NULL OR finished_at >= $1
    ) THEN 'younger_run'
    WHEN NOT $3 AND ${isUnbooked} THEN 'unbooked'
  END`;

/** SQL: whether a purge left words of the service: one of Volley 0.3.0, or one that an applier of delivery reports overlapped. */
const hasWords = `EXISTS (
  SELECT FROM folded_reports w WHERE w.run_id = r.run_id AND num_nonnulls(VARIADIC w.results || w.statuses) > 0
)`;

const isOldCondition = `(
  r.purging
  OR CASE WHEN r.purged_at IS NULL THEN coalesce(r.finished_at, r.created_at) < $1 ELSE ${hasWords} END
)`;

/** Lists runs that are old enough and not purged, oldest first, including those whose purge was interrupted or incomplete. */
export async function listPurgeCandidates(
  pool: pg.Pool,
  { before, alsoInDoubt }: PurgeLimit,
  billing: 'booked' | 'unbooked too' = 'booked',
): Promise<PurgeCandidate[]> {
  const { rows } = await pool.query<Omit<PurgeCandidate, 'requests' | 'recipients' | 'unreported'>>(
    `
    SELECT r.run_id AS run, r.campaign, r.state, r.created_at AS "createdAt", ${holdCase} AS held
    FROM runs r
    WHERE ${isOldCondition}
    ORDER BY r.created_at, r.run_id
    `,
    [before, alsoInDoubt, billing === 'unbooked too'],
  );
  const countsOf = await readRunCounts(
    pool,
    rows.map(({ run }) => run),
  );
  return rows.flatMap((row) => {
    const { requests, recipients } = countsOf.get(row.run) ?? {};
    if (!requests || !recipients) return [];
    return [
      { ...row, requests: requests.total, recipients: recipients.total, unreported: recipients.accepted },
    ];
  });
}

/**
 * Marks a run as purged unless it has to be kept. From then on nothing is sent from it, and no run is made from it.
 *
 * @returns false when the run has to be kept
 */
export async function beginPurge(
  client: Transaction,
  run: string,
  { before, alsoInDoubt }: PurgeLimit,
  now: Date,
): Promise<boolean> {
  // Resolving and resuming lock the run first; the next statement sees their changes.
  await client.query('SELECT FROM runs WHERE run_id = $1 FOR UPDATE', [run]);
  const { rowCount } = await client.query(
    `
    UPDATE runs r
    SET purged_at = coalesce(purged_at, $5), purging = true
    WHERE run_id = $4 AND ${isOldCondition} AND ${holdCase} IS NULL
    `,
    [before, alsoInDoubt, false, run, now],
  );
  return rowCount === 1;
}

export async function countPurgeable(
  pool: pg.Pool,
  runs: readonly string[],
  before: Date,
): Promise<{ readonly reports: number; readonly suppressions: number }> {
  const { rows } = await pool.query<{ reports: number; suppressions: number }>(
    `
    SELECT (SELECT count(*)::float8
            FROM inbox_calls i
            LEFT JOIN delivery_reports k USING (report_id)
            LEFT JOIN runs r ON r.run_id = k.run_id
            WHERE k.run_id = ANY ($1) OR (i.received_at < $2 AND (r.run_id IS NULL OR r.purged_at IS NOT NULL))
           ) AS reports,
           (SELECT count(*)::float8 FROM suppressions WHERE created_at < $2) AS suppressions
    `,
    [runs, before],
  );
  return rows[0] ?? { reports: 0, suppressions: 0 };
}
