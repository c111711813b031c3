import { randomUUID } from 'node:crypto';
import type { UnrecordedReason } from '../../domain/reasons.ts';
import { batchOf } from '../batch.ts';
import { moveOutcomesToLastAttempt, recordReopenedRequests } from '../billing/changes.ts';
import { reasonOf, reasonValue } from '../reasons.ts';
import type { Transaction } from '../session.ts';
import { addAcceptedRows, addAllPlannedRows, addUnrecordedRows } from './add-rows.ts';
import type { RequestKey } from './by-message-id.ts';
import type { SliceRange } from './read-contents.ts';

/* How requests come into doubt. `resolve.ts` and `prove.ts` lead out of it. */

/**
 * `sending → in_doubt` for requests whose owner has stopped sending (rule 2a), or `accepted` by a delivery report.
 * The caller has locked the slice and changes its owner, so the former owner can record no more.
 *
 * @returns the number of requests
 */
export async function markUnrecordedInDoubt(
  client: Transaction,
  range: SliceRange,
  owner: string,
  now: Date,
): Promise<number> {
  await addUnrecordedRows(client, range, owner);
  const { run, first, last } = range;
  const { rows } = await client.query<{ request: number; attempts: number }>(
    `
    UPDATE requests
    SET state = CASE WHEN reported THEN 'accepted' ELSE 'in_doubt' END,
        reason = CASE WHEN reported THEN ${reasonOf('reported')} ELSE ${reasonOf('worker_ended')} END,
        owner = NULL, updated_at = $4
    WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'sending'
    RETURNING request, attempts
    `,
    [run, first, last, now],
  );
  if (rows.length === 0) return 0;
  // A separate statement also sees attempts that began while the first one waited.
  await client.query(
    `
    UPDATE attempts a
    SET finished_at = $4, verdict = 'in_doubt', detail = ${reasonOf('worker_ended')}
    FROM unnest($2::integer[], $3::integer[]) AS orphaned (request, attempt)
    WHERE a.run_id = $1 AND a.request = orphaned.request AND a.attempt = orphaned.attempt AND a.finished_at IS NULL
    `,
    [run, rows.map(({ request }) => request), rows.map(({ attempts }) => attempts), now],
  );
  return rows.length;
}

export type UnrecordedCause = { readonly reason: UnrecordedReason; readonly since: Date };

/**
 * `planned → in_doubt` for requests that a lost ledger may have sent, or `accepted` by a delivery report. Adds the
 * attempt that may have been made, for billing and reports. The caller holds the run.
 *
 * @returns the number of requests in doubt
 */
export async function markPlannedInDoubt(
  client: Transaction,
  run: string,
  { reason, since }: UnrecordedCause,
  now: Date,
): Promise<number> {
  await addAllPlannedRows(client, run);
  const { rows } = await client.query<{ request: number; attempt: number; state: string }>(
    `
    WITH unsent AS (
      UPDATE requests
      SET state = CASE WHEN reported THEN 'accepted' ELSE 'in_doubt' END,
          reason = CASE WHEN reported THEN ${reasonOf('reported')} ELSE $2::jsonb END,
          attempts = attempts + 1, updated_at = $4
      WHERE run_id = $1 AND state = 'planned'
      RETURNING request, attempts, state
    ), unrecorded AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, detail)
      SELECT $1, request, attempts, $5, $3, $4, 'in_doubt', $2
      FROM unsent
    )
    SELECT request, attempts AS attempt, state FROM unsent
    `,
    [run, reasonValue(reason), since, now, randomUUID()],
  );
  await moveOutcomesToLastAttempt(
    client,
    rows.map(({ request, attempt }) => ({ run, request, attempt })),
  );
  return rows.filter(({ state }) => state === 'in_doubt').length;
}

type RepeatedNumber = RequestKey & { readonly jobNumber: string };

const repeatedNumbers = batchOf<RepeatedNumber>({
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  job_number: ['text', ({ jobNumber }) => jobNumber],
});

/** More requests than this have one number only if a service always answers with the same. */
const maxRequestsPerNumber = 10_000;

/**
 * `accepted → in_doubt` for requests whose only proof is a job number that another request of the account has too: an
 * answer that came twice belongs to one of them at most. A delivery report, a reply, the look-up or an operator proves
 * a request all the same. A purged run stays as it is.
 *
 * Call this when a slice is done: its numbers are committed by then, and so are those of every other done slice. The
 * requests of a slice that is not done follow with it.
 *
 * @param of its done slices; without a slice, all of the run
 */
export async function doubtRepeatedNumbers(
  client: Transaction,
  of: { readonly run: string; readonly slice?: number },
  now: Date,
): Promise<void> {
  const repeated = await findRepeatedNumbers(client, of);
  if (repeated.length === 0) return;
  await addAcceptedRows(client, repeated);
  await client.query(
    `
    WITH doubted AS (
      UPDATE requests q
      SET state = 'in_doubt', updated_at = $1,
          reason = jsonb_build_object('kind', 'repeated_job_number', 'jobNumber', q.reason ->> 'jobNumber')
      FROM ${repeatedNumbers.table('n', 2)}
      WHERE q.run_id = n.run_id AND q.request = n.request AND q.state = 'accepted'
        AND q.reason ->> 'kind' = 'job_number' AND upper(q.reason ->> 'jobNumber') = n.job_number
      RETURNING q.run_id, q.request, q.attempts, q.reason
    ), tried AS (
      UPDATE attempts a
      SET verdict = 'in_doubt', detail = d.reason
      FROM doubted d
      WHERE a.run_id = d.run_id AND a.request = d.request AND a.attempt = d.attempts
    ), reported AS (
      -- A delivery report may have come in this moment.
      INSERT INTO early_proofs (run_id, request)
      SELECT run_id, request FROM doubted
      ON CONFLICT DO NOTHING
    )
    ${recordReopenedRequests('doubted')}
    `,
    [now, ...repeatedNumbers.values(repeated)],
  );
}

/** Finds requests of done slices whose numbers are repeated, and that nothing else proves. */
async function findRepeatedNumbers(
  client: Transaction,
  { run, slice }: { readonly run: string; readonly slice?: number },
): Promise<RepeatedNumber[]> {
  // Each number is looked up by the key.
  const { rows } = await client.query<RepeatedNumber>({
    name: 'find-repeated-numbers',
    text: `
    WITH done AS MATERIALIZED (
      SELECT s.run_id, s.slice, s.first_request, s.last_request, s.claimed_to, r.account
      FROM slices s
      JOIN runs r USING (run_id)
      WHERE s.run_id = $1 AND ($2::integer IS NULL OR s.slice = $2) AND s.phase = 'sending' AND s.state = 'done'
    ), number AS MATERIALIZED (
      SELECT DISTINCT upper(n.job_number) AS job_number, d.account
      FROM done d
      CROSS JOIN LATERAL outcomes_of_slice(d.run_id, d.slice, d.first_request, d.claimed_to) o
      CROSS JOIN LATERAL unnest(o.job_numbers) AS n (job_number)
      WHERE n.job_number IS NOT NULL
      UNION
      SELECT upper(q.reason ->> 'jobNumber'), d.account
      FROM done d
      CROSS JOIN LATERAL (
        SELECT reason
        FROM requests
        WHERE run_id = d.run_id AND request BETWEEN d.first_request AND d.last_request AND state = 'accepted'
        OFFSET 0
      ) q
      WHERE q.reason ->> 'kind' = 'job_number'
    ), answered AS MATERIALIZED (
      SELECT j.*, count(*) OVER (PARTITION BY j.job_number) AS requests
      FROM number n
      CROSS JOIN LATERAL (
        SELECT job_number, run_id, request
        FROM job_numbers
        WHERE job_number = n.job_number AND account = n.account
        LIMIT ${maxRequestsPerNumber}
      ) j
    )
    SELECT a.run_id AS run, a.request, a.job_number AS "jobNumber"
    FROM answered a
    JOIN runs r ON r.run_id = a.run_id AND r.purged_at IS NULL
    CROSS JOIN LATERAL (
      SELECT state
      FROM slices
      WHERE run_id = a.run_id AND first_request <= a.request
      ORDER BY first_request DESC
      LIMIT 1
    ) s
    WHERE a.requests > 1 AND s.state = 'done'
      AND NOT EXISTS (
        SELECT FROM requests q WHERE q.run_id = a.run_id AND q.request = a.request
          AND (q.state <> 'accepted' OR q.reported OR q.reason ->> 'kind' <> 'job_number')
      )
      AND NOT EXISTS (
        SELECT FROM recipient_outcomes_between(a.run_id, a.request, a.request) o WHERE o.outcome <> 'cancelled'
      )
      AND NOT EXISTS (
        SELECT FROM unusual_delivery_reports u WHERE u.run_id = a.run_id AND u.request = a.request
      )
    ORDER BY a.run_id, a.request
    `,
    values: [run, slice ?? null],
  });
  return rows;
}
