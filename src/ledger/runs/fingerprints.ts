import type { RunReason } from '../../domain/reasons.ts';
import type { RunState } from '../../domain/runs.ts';
import { runReason, type Stored } from '../reasons.ts';
import type { Connection, Transaction } from '../session.ts';

/** An earlier run that sends the same to the same recipients. */
export type RepeatedRun = {
  readonly run: string;
  readonly state: RunState;
  readonly stateReason: RunReason | null;
  readonly since: Date;
  /** Whether it cannot be sent before another person has approved it. */
  readonly waitsForApproval: boolean;
};

/** SQL: whether the service took a request of run `r`, or may have. */
const sentAnything = `
  EXISTS (SELECT FROM request_states q
          WHERE q.run_id = r.run_id AND q.state IN ('sending', 'accepted', 'in_doubt', 'abandoned'))`;

/**
 * Keeps a run's fingerprint in the transaction that makes the run. Another transaction that makes a run of the same
 * fingerprint waits here until this one has ended, so that of two the later one finds the other.
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
 * The latest other run of this fingerprint that counts as sent. A run that workers send, or may send at any moment, counts
 * however old it is. One that waits for an operator counts if that is since then, and one that is over if it has ended since
 * then and the service took any of it.
 *
 * @param others runs that do not count: the one that is being made, first of all
 */
export async function findRepeatedRun(
  client: Connection,
  {
    fingerprint,
    since,
    others,
  }: { readonly fingerprint: Buffer; readonly since: Date; readonly others: readonly string[] },
): Promise<RepeatedRun | undefined> {
  const { rows } = await client.query<Stored<RepeatedRun, 'stateReason'>>(
    `
    SELECT r.run_id AS run, r.state, r.state_reason AS "stateReason", changed_at AS since,
      unapproved AS "waitsForApproval"
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
    [fingerprint, others, since],
  );
  const [repeated] = rows;
  return repeated && { ...repeated, stateReason: runReason(repeated.stateReason) };
}
