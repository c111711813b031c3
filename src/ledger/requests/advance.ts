import type pg from 'pg';
import { batchOf } from '../batch.ts';
import { type ClaimFence, fenceValues, mayClaim } from '../location/location.ts';
import type { Transaction } from '../session.ts';
import type { OwnedSlice } from '../slice-states/transitions.ts';
import type { Settlement } from './settle.ts';

/** Permission to send ordinary requests of a slice: those without rows of their own (`add-rows.ts`). */
export type RangeClaim = {
  /** The last request that the owner claimed. */
  readonly after: number;
  /** The last request that it claims. If `to` < `after`, it gives back the requests after `to`: no byte of them was sent. */
  readonly to: number;
  /** The suppression epoch under which the content was read. */
  readonly epoch: string;
};

export type AcceptedRequest = Pick<Settlement, 'request' | 'finishedAt' | 'httpStatus'> & {
  readonly recipients: number;
  readonly tookMs: number;
  /** The service's number for the request, if it returns one. */
  readonly jobNumber?: string | undefined;
};

export type Advance = OwnedSlice & {
  /** The version of the owner's last change of the slice, plus one. */
  readonly version: number;
  readonly claim: RangeClaim | undefined;
  readonly accepted: readonly AcceptedRequest[];
};

/**
 * `refused`: nothing was claimed, because no claim was asked for or it is not allowed; accepted requests are recorded.
 * `lost`: the slice has another owner; nothing was written.
 */
export type AdvanceResult = 'granted' | 'refused' | 'lost';

/**
 * Records accepted requests and claims the next ones, for several slices. Both are committed on return, so the first
 * byte can be sent (rule 1).
 *
 * A claim is refused if the run is not running, an address was suppressed after the content was read, the rest of the
 * slice has received rows (`addAllPlannedRows`), or `mayClaim` forbids it.
 *
 * Each change builds on the version before it: a repeated one takes effect once, and a former owner changes nothing.
 */
export async function advanceSlices(
  pool: pg.Pool,
  advances: readonly Advance[],
  now: Date,
  fence: ClaimFence | null,
): Promise<AdvanceResult[]> {
  const hasJobNumbers = advances.some(({ accepted }) =>
    accepted.some(({ jobNumber }) => jobNumber !== undefined),
  );
  const { rows } = await pool.query<{ ordinal: number; granted: boolean }>({
    name: hasJobNumbers ? 'advance-slices-with-job-numbers' : 'advance-slices',
    text: advanceStatement(hasJobNumbers),
    values: [...fenceValues(fence), now, ...advanceBatch.values(advances.map((each) => ({ ...each, now })))],
  });
  const granted = new Map(rows.map((row) => [row.ordinal, row.granted]));
  const missing = advances.filter((_, index) => !granted.has(index + 1));
  const committed = missing.length === 0 ? new Map() : await findCommitted(pool, missing, now);
  return advances.map((advance, index): AdvanceResult => {
    const found = granted.get(index + 1) ?? committed.get(advance);
    if (found === undefined) return 'lost';
    return found ? 'granted' : 'refused';
  });
}

/** Job numbers have a statement of their own, so that interfaces without job numbers have no extra cost. */
function advanceStatement(hasJobNumbers: boolean): string {
  const jobNumbers = `
    ), numbered AS (
      INSERT INTO job_numbers (job_number, account, run_id, request, answered_at)
      SELECT upper(a.job_number), r.account, t.run_id, a.request, $6
      FROM moved
      JOIN step t USING (ordinal)
      JOIN runs r ON r.run_id = t.run_id
      CROSS JOIN LATERAL unnest(t.requests::integer[], t.job_numbers::text[]) AS a (request, job_number)
      WHERE a.job_number IS NOT NULL
      ON CONFLICT DO NOTHING`;
  return `
    WITH step AS MATERIALIZED (
      SELECT a.*,
             a.claim_to IS NOT NULL AND r.state = 'running' AND a.epoch = (SELECT epoch FROM suppression_epoch WHERE singleton)
               AND ${mayClaim(1)} AS may_claim
      FROM ${advanceBatch.table('a', 7, 'ordinal')}
      JOIN runs r ON r.run_id = a.run_id
    ), held AS MATERIALIZED (
      -- Lock in key order to avoid deadlocks.
      SELECT t.ordinal,
             coalesce(s.claimed_to = t.claim_after AND (t.may_claim OR t.claim_to < t.claim_after), false) AS granted
      FROM step t
      JOIN slices s ON s.run_id = t.run_id AND s.slice = t.slice AND s.owner = t.owner AND s.version = t.version - 1
      ORDER BY s.run_id, s.slice
      FOR NO KEY UPDATE OF s
    ), moved AS (
      UPDATE slices s
      SET version = t.version,
          claimed_to = CASE WHEN held.granted THEN t.claim_to ELSE s.claimed_to END,
          claimed_at = CASE WHEN held.granted AND t.claim_to > t.claim_after THEN $6 ELSE s.claimed_at END,
          accepted = s.accepted + t.accepted, accepted_recipients = s.accepted_recipients + t.recipients
      FROM held
      JOIN step t USING (ordinal)
      WHERE s.run_id = t.run_id AND s.slice = t.slice
      RETURNING t.ordinal, held.granted
    ), kept AS (
      INSERT INTO outcomes
        (run_id, slice, version, recorded_at, requests, recipients, ages_ms, took_ms, statuses, job_numbers)
      SELECT t.run_id, t.slice, t.version, $6, t.requests::integer[], t.recipients, (t.times::integer[])[1 : t.accepted],
             (t.times::integer[])[t.accepted + 1 :], t.statuses::smallint[], t.job_numbers::text[]
      FROM moved
      JOIN step t USING (ordinal)
      WHERE t.accepted > 0
    ${hasJobNumbers ? jobNumbers : ''}
    )
    SELECT CAST(ordinal AS integer) AS ordinal, granted FROM moved
  `;
}

const advanceBatch = batchOf<Advance & { readonly now: Date }>({
  run_id: ['text', ({ run }) => run],
  slice: ['integer', ({ slice }) => slice],
  owner: ['uuid', ({ owner }) => owner],
  version: ['integer', ({ version }) => version],
  claim_after: ['integer', ({ claim }) => claim?.after ?? null],
  claim_to: ['integer', ({ claim }) => claim?.to ?? null],
  epoch: ['bigint', ({ claim }) => claim?.epoch ?? null],
  accepted: ['integer', ({ accepted }) => accepted.length],
  recipients: ['integer', ({ accepted }) => accepted.reduce((sum, { recipients }) => sum + recipients, 0)],
  requests: ['text', ({ accepted }) => integerArray(accepted.map(({ request }) => request))],
  times: [
    'text',
    ({ accepted, now }) =>
      integerArray([
        ...accepted.map(({ finishedAt }) => clampToInteger(now.getTime() - finishedAt.getTime())),
        ...accepted.map(({ tookMs }) => clampToInteger(tookMs)),
      ]),
  ],
  statuses: [
    'text',
    ({ accepted }) =>
      accepted.every(({ httpStatus }) => httpStatus === 200)
        ? null
        : integerArray(accepted.map(({ httpStatus }) => httpStatus ?? 200)),
  ],
  job_numbers: [
    'text',
    ({ accepted }) =>
      accepted.every(({ jobNumber }) => jobNumber === undefined) ? null : jobNumberArray(accepted),
  ],
});

function integerArray(numbers: readonly number[]): string {
  return `{${numbers.join()}}`;
}

/** Keeps a duration in the range of integer, because the clock may have been set. */
function clampToInteger(milliseconds: number): number {
  return Math.max(-2_147_483_647, Math.min(2_147_483_647, Math.round(milliseconds)));
}

/** Quotes job numbers, which can be any text. */
function jobNumberArray(accepted: readonly AcceptedRequest[]): string {
  const each = accepted.map(({ jobNumber }) =>
    jobNumber === undefined ? 'NULL' : `"${jobNumber.replace(/[\\"]/g, (character) => `\\${character}`)}"`,
  );
  return `{${each.join()}}`;
}

/** Finds changes that were committed without an answer, and whether their claims were granted. */
async function findCommitted(
  pool: pg.Pool,
  advances: readonly Advance[],
  now: Date,
): Promise<Map<Advance, boolean>> {
  const { rows } = await pool.query<{ ordinal: number; granted: boolean }>(
    `
    SELECT CAST(a.ordinal AS integer) AS ordinal,
           coalesce(a.claim_to = s.claimed_to AND (a.claim_to < a.claim_after OR s.claimed_at = $1), false) AS granted
    FROM ${advanceBatch.table('a', 2, 'ordinal')}
    JOIN slices s ON s.run_id = a.run_id AND s.slice = a.slice AND s.owner = a.owner AND s.version = a.version
    `,
    [now, ...advanceBatch.values(advances.map((each) => ({ ...each, now })))],
  );
  return new Map(
    rows.flatMap(({ ordinal, granted }) => {
      const advance = advances[ordinal - 1];
      return advance ? [[advance, granted] as const] : [];
    }),
  );
}

/**
 * Merges the outcomes of a done slice, one row a commit, into arrays in request order, so that one can be read alone,
 * and deletes proofs of requests that are accepted.
 */
export async function compactOutcomes(client: Transaction, run: string, slice: number): Promise<void> {
  await client.query({
    name: 'compact-outcomes',
    text: `
    INSERT INTO slice_outcomes (run_id, slice, base_at, finished_ms, took_ms, statuses, job_numbers)
    SELECT s.run_id, s.slice, g.base_at, g.finished_ms, g.took_ms, g.statuses, g.job_numbers
    FROM slices s
    CROSS JOIN LATERAL aggregated_outcomes(s.run_id, s.slice, s.first_request, s.claimed_to) g
    WHERE s.run_id = $1 AND s.slice = $2
      AND EXISTS (SELECT FROM outcomes b WHERE b.run_id = s.run_id AND b.slice = s.slice)
    ON CONFLICT DO NOTHING
    `,
    values: [run, slice],
  });
  await client.query({
    name: 'delete-outcomes',
    text: 'DELETE FROM outcomes WHERE run_id = $1 AND slice = $2',
    values: [run, slice],
  });
  await client.query({
    name: 'delete-accepted-proofs',
    text: `
    DELETE FROM early_proofs p
    USING slices s
    WHERE s.run_id = $1 AND s.slice = $2 AND p.run_id = $1 AND p.request BETWEEN s.first_request AND s.claimed_to
      AND NOT EXISTS (
        SELECT FROM requests q WHERE q.run_id = $1 AND q.request = p.request AND q.state <> 'accepted'
      )
    `,
    values: [run, slice],
  });
}
