import type { BegunRun } from '../../domain/claim-marks.ts';
import type { RunReason } from '../../domain/reasons.ts';
import type { RunState } from '../../domain/runs.ts';
import { runReason, type Stored } from '../reasons.ts';
import type { Connection, Transaction } from '../session.ts';

/** An earlier run with the same content and recipients. */
export type RepeatedRun = {
  readonly run: string;
  readonly state: RunState;
  readonly stateReason: RunReason | null;
  readonly since: Date;
  readonly waitsForApproval: boolean;
  /** Those that wait for a winner are not: Volley sends to them. */
  readonly beyondLimit: number;
};

/** Reads what a note outside of the ledger says of a run. */
export async function readIdentityOf(
  client: Connection,
  run: string,
): Promise<Pick<BegunRun, 'campaign' | 'fingerprint' | 'ledger'> | undefined> {
  const { rows } = await client.query<Pick<BegunRun, 'campaign' | 'fingerprint' | 'ledger'>>(
    `SELECT r.campaign, encode(f.fingerprint, 'hex') AS fingerprint, l.ledger
     FROM runs r
     CROSS JOIN ledger_location l
     LEFT JOIN fingerprints f USING (run_id)
     WHERE r.run_id = $1`,
    [run],
  );
  return rows[0];
}

/** Finds those of `runs` that the ledger lacks. */
export async function findMissingRuns(
  client: Connection,
  runs: readonly string[],
): Promise<ReadonlySet<string>> {
  if (runs.length === 0) return new Set();
  const { rows } = await client.query<{ run: string }>(
    `SELECT run
     FROM unnest($1::text[]) AS begun (run)
     WHERE NOT EXISTS (SELECT FROM runs r WHERE r.run_id = run)`,
    [runs],
  );
  return new Set(rows.map(({ run }) => run));
}

/** SQL: whether the service may have accepted a request of run `r`. */
const sentAnything = `
  EXISTS (SELECT FROM request_states q
          WHERE q.run_id = r.run_id AND q.state IN ('sending', 'accepted', 'in_doubt', 'abandoned'))`;

/**
 * Records a fingerprint. The later of two transactions with the same one waits here, and then finds the other run.
 *
 * @param fingerprint 32 bytes
 */
export async function recordFingerprint(
  client: Transaction,
  run: string,
  fingerprint: Buffer,
): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1::bigint)', [fingerprint.readBigInt64BE().toString()]);
  await client.query('INSERT INTO fingerprints (fingerprint, run_id) VALUES ($1, $2)', [fingerprint, run]);
}

/**
 * Finds the latest run with this fingerprint that counts: one that workers send or can send; one that waits for an
 * operator and changed after `since`; one that ended after `since` and may have sent anything.
 *
 * @param ignoredRuns such as the new run
 */
export async function findRepeatedRun(
  client: Connection,
  {
    fingerprint,
    since,
    ignoredRuns,
  }: { readonly fingerprint: Buffer; readonly since: Date; readonly ignoredRuns: readonly string[] },
): Promise<RepeatedRun | undefined> {
  const { rows } = await client.query<Stored<RepeatedRun, 'stateReason'>>(
    `
    SELECT r.run_id AS run, r.state, r.state_reason AS "stateReason", changed_at AS since,
      unapproved AS "waitsForApproval", CASE WHEN EXISTS (SELECT FROM run_rests t WHERE t.run_id = r.run_id) THEN 0
           ELSE coalesce(r.contacts_beyond_limit, 0) END AS "beyondLimit"
    FROM fingerprints f
    JOIN runs r USING (run_id)
    JOIN LATERAL (
      SELECT max(changed_at) AS changed_at FROM run_states s WHERE s.run_id = r.run_id
    ) last_change ON true
    CROSS JOIN LATERAL (
      SELECT EXISTS (
        SELECT FROM approvals a WHERE a.run_id = r.run_id AND a.approved_at IS NULL
      ) AS unapproved
    ) approval
    WHERE f.fingerprint = $1 AND f.run_id <> ALL ($2::text[])
      AND CASE
            WHEN r.state = 'running' THEN true
            WHEN r.state = 'planned' THEN changed_at > $3 OR NOT unapproved
            WHEN r.state = 'paused' THEN changed_at > $3
            ELSE changed_at > $3 AND ${sentAnything}
          END
    ORDER BY changed_at DESC, run_id DESC
    LIMIT 1
    `,
    [fingerprint, ignoredRuns, since],
  );
  const [repeated] = rows;
  return repeated && { ...repeated, stateReason: runReason(repeated.stateReason) };
}
