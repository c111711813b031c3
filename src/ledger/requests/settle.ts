import type pg from 'pg';
import type { RequestReason } from '../../domain/reasons.ts';
import { batchOf } from '../batch.ts';
import { recordReopenedRequests } from '../billing/changes.ts';
import { reasonOf, reasonValue, resentReason } from '../reasons.ts';
import { type Connection, inTransaction } from '../session.ts';
import type { OwnedSlice } from '../slice-states/transitions.ts';
import { divideRequests } from './divide.ts';
import { doubtRepeatedNumbers } from './doubt.ts';

export type Settlement = SettledState &
  OwnedSlice & {
    readonly request: number;
    readonly attempt: number;
    readonly finishedAt: Date;
    readonly httpStatus: number | null;
    readonly detail: RequestReason | null;
  };

export type SettledState =
  | {
      readonly state: 'accepted';
      /** The service's number for the request, if it answers one. */
      readonly jobNumber?: string;
    }
  | { readonly state: 'failed' | 'in_doubt' }
  | {
      readonly state: 'rejected';
      /** Whether to divide its recipients into two new requests. */
      readonly divide: boolean;
    }
  /** The service provably did not accept the request. `unauthorized` also pauses the run. */
  | { readonly state: 'planned'; readonly verdict: 'unauthorized' | 'released' };

const batch = batchOf<Settlement>({
  run_id: ['text', ({ run }) => run],
  slice: ['integer', ({ slice }) => slice],
  owner: ['uuid', ({ owner }) => owner],
  request: ['integer', ({ request }) => request],
  attempt: ['integer', ({ attempt }) => attempt],
  finished_at: ['timestamptz', ({ finishedAt }) => finishedAt],
  http_status: ['integer', ({ httpStatus }) => httpStatus],
  detail: ['jsonb', ({ detail }) => reasonValue(detail)],
  state: ['text', ({ state }) => state],
  verdict: ['text', (settled) => (settled.state === 'planned' ? settled.verdict : settled.state)],
  job_number: ['text', jobNumberOf],
});

function jobNumberOf(settlement: Settlement): string | null {
  return (settlement.state === 'accepted' && settlement.jobNumber) || null;
}

/**
 * `sending → accepted | rejected | failed | in_doubt | planned`, unless the request is at another attempt or has
 * another owner. A late answer also settles a request in doubt because of the same attempt.
 *
 * A resent request that is rejected or fails stays in doubt. With a delivery report, a request is accepted instead of
 * in doubt or planned.
 *
 * @returns indexes of the settled requests in the batch
 */
export async function settleRequests(
  pool: pg.Pool,
  settlements: readonly Settlement[],
): Promise<ReadonlySet<number>> {
  const divided = settlements.filter((settlement) => settlement.state === 'rejected' && settlement.divide);
  const { settled, late } = await (divided.length === 0
    ? settleBatch(pool, settlements)
    : settleAndDivide(pool, settlements, divided));
  const slices = new Map(late.filter(jobNumberOf).map((each) => [`${each.run} ${each.slice}`, each]));
  for (const each of slices.values()) {
    await inTransaction(pool, (client) => doubtRepeatedNumbers(client, each, each.finishedAt));
  }
  return settled;
}

/** What was settled. `late`: requests that were in doubt; their slices may be done. */
type Settled = { readonly settled: ReadonlySet<number>; readonly late: readonly Settlement[] };

async function settleAndDivide(
  pool: pg.Pool,
  settlements: readonly Settlement[],
  divided: readonly Settlement[],
): Promise<Settled> {
  return inTransaction(pool, async (client) => {
    // Transactions that change slices lock the run first.
    const runs = [...new Set(settlements.map(({ run }) => run))];
    await client.query('SELECT FROM runs WHERE run_id = ANY ($1) ORDER BY run_id FOR NO KEY UPDATE', [runs]);
    const result = await settleBatch(client, settlements);
    const byRun = Map.groupBy(
      divided.filter((settlement) => result.settled.has(settlements.indexOf(settlement))),
      ({ run }) => run,
    );
    for (const [run, parents] of byRun) {
      const requests = parents.map(({ request }) => request);
      await divideRequests(client, { run, requests });
    }
    return result;
  });
}

async function settleBatch(client: Connection, settlements: readonly Settlement[]): Promise<Settled> {
  const { rows } = await client.query<{ index: string }>({
    name: 'settle-requests',
    text: settleStatement,
    values: batch.values(settlements),
  });
  const settled = rows.map(({ index }) => Number(index));
  if (settled.length === settlements.length) return { settled: new Set(settled), late: [] };
  const late = await settleInDoubt(client, settlements);
  return {
    settled: new Set([...settled, ...late]),
    late: settlements.filter((_, index) => late.includes(index)),
  };
}

// Job numbers are stored for settled requests too, because delivery reports may name them.
const settleStatement = `
  WITH outcome AS MATERIALIZED (
    SELECT *
    FROM ${batch.table('outcome', 1, 'ordinal')}
  ), finished AS (
    UPDATE attempts a
    SET finished_at = o.finished_at, verdict = o.verdict, http_status = o.http_status, detail = o.detail
    FROM outcome o
    WHERE a.run_id = o.run_id AND a.request = o.request AND a.attempt = o.attempt AND a.owner = o.owner
      AND (a.finished_at IS NULL OR (a.verdict = 'in_doubt' AND a.http_status IS NULL))
    RETURNING a.run_id, a.request, o.job_number, o.finished_at
  ), numbered AS (
    INSERT INTO job_numbers (job_number, account, run_id, request, answered_at)
    SELECT upper(f.job_number), r.account, f.run_id, f.request, f.finished_at
    FROM finished f
    JOIN runs r ON r.run_id = f.run_id
    WHERE f.job_number IS NOT NULL
    ON CONFLICT DO NOTHING
  ), settled AS (
    UPDATE requests q
    SET state = CASE
                  WHEN q.reported AND (o.state IN ('in_doubt', 'planned') OR q.resends > 0) THEN 'accepted'
                  WHEN q.resends > 0 AND o.state IN ('rejected', 'failed') THEN 'in_doubt'
                  ELSE o.state
                END,
        reason = CASE
                   WHEN q.reported AND (o.state IN ('in_doubt', 'planned') OR q.resends > 0) THEN ${reasonOf('reported')}
                   WHEN q.resends > 0 AND o.state IN ('rejected', 'failed')
                   THEN ${resentReason('o.state', 'o.detail')}
                   ELSE o.detail
                 END,
        owner = NULL, updated_at = o.finished_at
    FROM outcome o
    WHERE q.run_id = o.run_id AND q.request = o.request
      AND q.attempts = o.attempt AND q.state = 'sending' AND q.owner = o.owner
    RETURNING o.ordinal
  )
  SELECT ordinal - 1 AS index FROM settled
`;

/**
 * `in_doubt → accepted | rejected` by a late answer to the attempt that caused the doubt. A rejected resend stays in
 * doubt because of its earlier attempt.
 *
 * @returns indexes of the settled requests
 */
async function settleInDoubt(
  client: Connection,
  settlements: readonly Settlement[],
): Promise<readonly number[]> {
  const { rows } = await client.query<{ index: number }>(
    `
    WITH outcome AS MATERIALIZED (
      SELECT *
      FROM ${batch.table('outcome', 1, 'ordinal')}
    ), settled AS (
      UPDATE requests q
      SET state = CASE WHEN q.resends > 0 AND o.state = 'rejected' THEN 'in_doubt' ELSE o.state END,
          reason = CASE WHEN q.resends > 0 AND o.state = 'rejected'
                     THEN ${resentReason('o.state', 'o.detail')}
                     ELSE o.detail
                   END,
          updated_at = o.finished_at
      FROM outcome o
      WHERE q.run_id = o.run_id AND q.request = o.request AND q.state = 'in_doubt' AND q.attempts = o.attempt
        AND o.state IN ('accepted', 'rejected')
        AND EXISTS (SELECT FROM attempts a
                    WHERE a.run_id = o.run_id AND a.request = o.request AND a.attempt = o.attempt
                      AND a.owner = o.owner)
      RETURNING o.ordinal, o.run_id, o.request, q.state
    ), opened AS (
      ${recordReopenedRequests("(SELECT * FROM settled WHERE state <> 'in_doubt')")}
    )
    SELECT (ordinal - 1)::integer AS index FROM settled
    `,
    batch.values(settlements),
  );
  return rows.map(({ index }) => index);
}
