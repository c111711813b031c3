import type pg from 'pg';
import { batchOf, type Columns } from '../batch.ts';
import { type ClaimFence, fenceValues, mayClaim } from '../location/location.ts';

/** A claim: the requests of a slice up to a number, as far as they have no rows of their own, may be in flight. */
export type RangeClaim = {
  /** The last request that its owner has claimed. */
  readonly after: number;
  /** Before `after`: the claim gives back what is behind it, and no byte of that has left. */
  readonly to: number;
  /** The suppressions that were looked at for these requests (`readContents`). */
  readonly epoch: string;
};

export type AcceptedRequest = {
  readonly request: number;
  readonly finishedAt: number;
  readonly tookMs: number;
  readonly httpStatus: number;
  /** The service's own number for it, where its answer says one. */
  readonly jobNumber: string | undefined;
};

export type Advance = {
  readonly run: string;
  readonly slice: number;
  readonly owner: string;
  /** The number of this change of the slice: one more than that of the owner's last one. */
  readonly version: number;
  readonly claim: RangeClaim | undefined;
  readonly accepted: readonly AcceptedRequest[];
};

/** `lost`: the slice is not its owner's any more, and nothing was written. */
export type AdvanceResult = 'granted' | 'refused' | 'lost';

/**
 * Notes which requests the service accepted, and claims the next ones, of several slices in one statement. When this returns,
 * both are committed, and the first byte of what was claimed may leave (rule 1).
 *
 * A claim is refused where the run is not running, an address was suppressed since the content was read, or the ledger is
 * held, is another one by now, or lacks the last claim. Nothing is claimed or given back where the rest of the slice has rows
 * since the owner's last claim (`addAllPlannedRows`).
 *
 * Each change of a slice has a number and is made on top of the one before it: a repeated one is made once, and none is made by
 * a former owner.
 */
export async function advanceSlices(
  pool: pg.Pool,
  advances: readonly Advance[],
  now: Date,
  fence: ClaimFence | null,
): Promise<AdvanceResult[]> {
  const hasJobs = advances.some(({ accepted }) => accepted.some(({ jobNumber }) => jobNumber !== undefined));
  const { rows } = await pool.query<{ ordinal: number; granted: boolean }>({
    name: hasJobs ? 'advance-slices-with-jobs' : 'advance-slices',
    text: advanceStatement(hasJobs),
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

/** A job number is another statement's, so that interfaces that answer none pay nothing for them. */
function advanceStatement(hasJobNumbers: boolean): string {
  const jobs = `
    ), numbered AS (
      INSERT INTO job_numbers (job_number, account, run_id, request, answered_at)
      SELECT upper(a.job), r.account, t.run_id, a.request, $6
      FROM moved
      JOIN step t USING (ordinal)
      JOIN runs r ON r.run_id = t.run_id
      CROSS JOIN LATERAL unnest(t.requests::integer[], t.jobs::text[]) AS a (request, job)
      WHERE a.job IS NOT NULL
      ON CONFLICT DO NOTHING`;
  return `
    WITH step AS MATERIALIZED (
      SELECT a.*,
             a.claim_to IS NOT NULL AND r.state = 'running' AND a.epoch = (SELECT epoch FROM suppression_epoch WHERE singleton)
               AND ${mayClaim(1)} AS may_claim
      FROM ${advanceBatch.table('a', 7, 'ordinal')}
      JOIN runs r ON r.run_id = a.run_id
    ), held AS MATERIALIZED (
      -- In the order of their keys, so that two that change the same slices wait for each other, not crosswise.
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
          settled = s.settled + t.accepted
      FROM held
      JOIN step t USING (ordinal)
      WHERE s.run_id = t.run_id AND s.slice = t.slice
      RETURNING t.ordinal, held.granted
    ), kept AS (
      INSERT INTO outcomes (run_id, slice, version, recorded_at, requests, ages_ms, took_ms, statuses, job_numbers)
      SELECT t.run_id, t.slice, t.version, $6, t.requests::integer[], (t.times::integer[])[1 : t.accepted],
             (t.times::integer[])[t.accepted + 1 :], t.statuses::smallint[], t.jobs::text[]
      FROM moved
      JOIN step t USING (ordinal)
      WHERE t.accepted > 0
    ${hasJobNumbers ? jobs : ''}
    )
    SELECT CAST(ordinal AS integer) AS ordinal, granted FROM moved
  `;
}

type DatedAdvance = Advance & { readonly now: Date };

const changeColumns: Columns<Advance> = {
  run_id: ['text', ({ run }) => run],
  slice: ['integer', ({ slice }) => slice],
  owner: ['uuid', ({ owner }) => owner],
  version: ['integer', ({ version }) => version],
  claim_after: ['integer', ({ claim }) => claim?.after ?? null],
  claim_to: ['integer', ({ claim }) => claim?.to ?? null],
};

const changeBatch = batchOf<Advance>(changeColumns);

/** With what was accepted, as texts of arrays. */
const advanceBatch = batchOf<DatedAdvance>({
  ...changeColumns,
  epoch: ['bigint', ({ claim }) => claim?.epoch ?? null],
  accepted: ['integer', ({ accepted }) => accepted.length],
  requests: ['text', ({ accepted }) => integerArray(accepted.map(({ request }) => request))],
  times: [
    'text',
    ({ accepted, now }) =>
      integerArray([
        ...accepted.map(({ finishedAt }) => clampToInteger(now.getTime() - finishedAt)),
        ...accepted.map(({ tookMs }) => clampToInteger(tookMs)),
      ]),
  ],
  statuses: [
    'text',
    ({ accepted }) =>
      accepted.every(({ httpStatus }) => httpStatus === 200)
        ? null
        : integerArray(accepted.map(({ httpStatus }) => httpStatus)),
  ],
  jobs: [
    'text',
    ({ accepted }) =>
      accepted.every(({ jobNumber }) => jobNumber === undefined) ? null : jobNumberArray(accepted),
  ],
});

function integerArray(numbers: readonly number[]): string {
  return `{${numbers.join()}}`;
}

/** The clock may have been set in the meantime. */
function clampToInteger(milliseconds: number): number {
  return Math.max(-2_147_483_647, Math.min(2_147_483_647, Math.round(milliseconds)));
}

/** It is whatever the service says. */
function jobNumberArray(accepted: readonly AcceptedRequest[]): string {
  const each = accepted.map(({ jobNumber }) =>
    jobNumber === undefined ? 'NULL' : `"${jobNumber.replace(/[\\"]/g, (character) => `\\${character}`)}"`,
  );
  return `{${each.join()}}`;
}

/** Changes whose answer was lost: whether their claims were granted. */
async function findCommitted(
  pool: pg.Pool,
  advances: readonly Advance[],
  now: Date,
): Promise<Map<Advance, boolean>> {
  const { rows } = await pool.query<{ ordinal: number; granted: boolean }>(
    `
    SELECT CAST(a.ordinal AS integer) AS ordinal,
           coalesce(a.claim_to = s.claimed_to AND (a.claim_to < a.claim_after OR s.claimed_at = $1), false) AS granted
    FROM ${changeBatch.table('a', 2, 'ordinal')}
    JOIN slices s ON s.run_id = a.run_id AND s.slice = a.slice AND s.owner = a.owner AND s.version = a.version
    `,
    [now, ...changeBatch.values(advances)],
  );
  return new Map(
    rows.flatMap(({ ordinal, granted }) => {
      const advance = advances[ordinal - 1];
      return advance ? [[advance, granted] as const] : [];
    }),
  );
}
