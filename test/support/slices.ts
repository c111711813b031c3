import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Priority } from '../../src/domain/runs.ts';
import type { Ledger } from '../../src/ledger/connection.ts';
import type { PlannedRun } from '../../src/ledger/planning/planned-run.ts';
import { recipientArrays } from '../../src/ledger/request-rows.ts';
import { beginRun } from '../../src/ledger/runs/begin.ts';
import {
  type Acquisition,
  acquireSlice,
  type HeldSlice,
  type SendingSlice,
} from '../../src/ledger/slices/acquire.ts';
import type { SlicePlan } from '../../src/ledger/slices/enqueue.ts';
import { type DoubtPolicy, finishSlice } from '../../src/ledger/slices/finish.ts';
import { queueName } from '../../src/ledger/slices/queue.ts';
import { aContact, aRun, planContacts } from './ledger.ts';
import { type Claim, claimRequests } from './requests.ts';

export const holdDoubts: DoubtPolicy = { lookUp: false, resends: 0 };

export function slicePlanOf(run: string, changes: Partial<SlicePlan> = {}): SlicePlan {
  const limits = { maxAccountSlices: 4, maxRunSlices: 4, firstAlone: false } as const;
  return { run, account: 'main', ...limits, priority: 'normal', ...changes };
}

export async function beginSliced(
  { pool, queue }: Ledger,
  run: string,
  changes: Partial<SlicePlan> = {},
  policy = holdDoubts,
): ReturnType<typeof beginRun> {
  return beginRun(await queue(), pool, { plan: slicePlanOf(run, changes), policy, now: new Date() });
}

export async function finishHeld(
  { pool, queue }: Ledger,
  held: HeldSlice,
  changes: Partial<SlicePlan> = {},
  { policy = holdDoubts, interrupted = false } = {},
): ReturnType<typeof finishSlice> {
  const plan = slicePlanOf(held.run, changes);
  return finishSlice(await queue(), pool, held, { plan, policy, interrupted, now: new Date() });
}

export async function acquireSliceOf(ledger: Ledger, run: string): Promise<SendingSlice> {
  const { pool } = ledger;
  const queue = await ledger.queue();
  const now = new Date();
  // A separate group, so that slices of other tests do not count.
  await beginSliced(ledger, run, { account: run });
  for (;;) {
    const options = { worker: randomUUID(), owner: randomUUID(), ignoredAccounts: [], now: () => now };
    const acquisition = await acquireSlice(queue, pool, options);
    if (acquisition.kind === 'none') throw new Error(`run ${run} has no slice in the queue`);
    if (acquisition.kind !== 'held' || acquisition.slice.run !== run) continue;
    return sendingOf(acquisition);
  }
}

export async function claimFrom(
  { hot }: Ledger,
  slice: SendingSlice,
  limit: number,
  now = new Date(),
): Promise<Claim> {
  const [claim] = await claimRequests(hot, [{ ...slice, from: slice.first, limit }], { now });
  return claim ?? { claimed: [], cancelled: [] };
}

/** Right after Postgres starts, workers are not treated as ended. */
export async function waitAfterServerStart({ pool }: Ledger): Promise<void> {
  await pool.query(
    'SELECT pg_sleep(greatest(0, 2.1 - extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())))',
  );
}

/** Plans a run with one request per slice by default, and one recipient per request. */
export async function planSlicedRun(
  ledger: Ledger,
  slices: number,
  requestsInSlice = 1,
  changes: Partial<PlannedRun> = {},
): Promise<string> {
  const contacts = Array.from({ length: slices * requestsInSlice }, (_, index) => aContact(index + 2));
  const run = await planContacts(ledger, aRun({ chunkSize: 1, ...changes }), contacts);
  await ledger.pool.query('DELETE FROM slices WHERE run_id = $1', [run]);
  await ledger.pool.query(
    `INSERT INTO slices (run_id, slice, phase, first_request, last_request, claimed_to, state)
     SELECT $1, slice, 'sending', 1 + (slice - 1) * $3, slice * $3, (slice - 1) * $3, 'waiting'
     FROM generate_series(1, $2::integer) AS slice
     UNION ALL
     SELECT $1, $2 + 1, 'settling doubts', NULL, NULL, NULL, 'waiting'`,
    [run, slices, requestsInSlice],
  );
  await cutContents(ledger.pool, run, requestsInSlice);
  return run;
}

/** Stores blocks of two requests that never span slices, as planning would. */
export async function cutContents(pool: pg.Pool, run: string, requestsInSlice: number): Promise<void> {
  await pool.query(
    `
    WITH planned AS (
      DELETE FROM contents WHERE run_id = $1 RETURNING *
    ), member AS (
      SELECT c.first_request + r.request_offset AS request, c.envelopes[r.request_offset + 1] AS envelope,
             c.sizes[r.request_offset + 1] AS size, r.*
      FROM planned c
      CROSS JOIN LATERAL ROWS FROM (
        unnest(
          c.request_offsets, c.positions, c.lines, c.addresses, c.original_addresses, c.parts, c.tariffs
        ),
        json_array_elements(CAST(c.destinations AS json))
      ) AS r (request_offset, position, line, address, original_address, parts, tariff, destination)
    ), sliced AS (
      SELECT *, (request - 1) / $2 + 1 AS slice, (request - 1) / $2 * $2 + 1 AS slice_first FROM member
    )
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses, original_addresses, parts, tariffs, destinations)
    SELECT $1, min(request), max(request), min(slice),
           array_agg(envelope ORDER BY request, position) FILTER (WHERE position = 1),
           array_agg(size ORDER BY request, position) FILTER (WHERE position = 1),
           array_agg(request - block ORDER BY request, position), array_agg(position ORDER BY request, position),
           ${recipientArrays}
    FROM (SELECT *, slice_first + (request - slice_first) / 2 * 2 AS block FROM sliced) blocked
    GROUP BY block
    `,
    [run, requestsInSlice],
  );
}

export async function acquireNextSlice(
  { pool, queue }: Ledger,
  worker: string = randomUUID(),
  ignoredAccounts: readonly string[] = [],
  minPriority: Priority = 'bulk',
): Promise<Acquisition> {
  return acquireSlice(await queue(), pool, {
    worker,
    owner: randomUUID(),
    ignoredAccounts,
    minPriority: minPriority,
    now: () => new Date(),
  });
}

/** Also accepts the phase `settling doubts`. */
export async function acquireAnySlice(ledger: Ledger): Promise<HeldSlice> {
  const acquisition = await acquireNextSlice(ledger);
  if (acquisition.kind !== 'held') throw new Error(`there was no slice to acquire: ${acquisition.kind}`);
  return acquisition.slice;
}

export async function acquireSendingSlice(ledger: Ledger, worker?: string): Promise<SendingSlice> {
  const acquisition = await acquireNextSlice(ledger, worker);
  return sendingOf(acquisition);
}

function sendingOf(acquisition: Acquisition): SendingSlice {
  if (acquisition.kind !== 'held') throw new Error(`there was no slice to acquire: ${acquisition.kind}`);
  if (acquisition.slice.phase !== 'sending') throw new Error('there was only the phase of settling doubts');
  return acquisition.slice;
}

export async function waitingJobs({ pool }: Ledger): Promise<number> {
  const { rows } = await pool.query<{ jobs: number }>(
    `SELECT count(*)::integer AS jobs FROM volley_queue.job WHERE state IN ('created', 'retry')`,
  );
  return rows[0]?.jobs ?? 0;
}

/** States of a run's slices, `settling doubts` first. */
export async function sliceStates({ pool }: Ledger, run: string): Promise<string[]> {
  const { rows } = await pool.query<{ state: string }>(
    'SELECT state FROM slices WHERE run_id = $1 ORDER BY phase DESC, slice',
    [run],
  );
  return rows.map(({ state }) => state);
}

export async function requestStates({ pool }: Ledger, run: string): Promise<string[]> {
  const { rows } = await pool.query<{ state: string }>(
    'SELECT state FROM request_states WHERE run_id = $1 ORDER BY request',
    [run],
  );
  return rows.map(({ state }) => state);
}

/** Makes the lease of a slice look expired. */
export async function expireLeaseOf(
  { pool, queue: open }: Ledger,
  run: string,
  slice: number,
): Promise<void> {
  const queue = await open();
  await pool.query(
    `UPDATE volley_queue.job SET heartbeat_on = now() - interval '1 hour'
     WHERE id = (SELECT job FROM slices WHERE run_id = $1 AND slice = $2)`,
    [run, slice],
  );
  await pool.query('UPDATE volley_queue.queue SET monitor_on = NULL, monitor_claim_on = NULL');
  await queue.supervise(queueName);
}

/** Ends the five seconds in which workers can return. */
export async function endStartupGrace({ pool }: Ledger): Promise<void> {
  await pool.query(`UPDATE startup_grace SET ends_at = ends_at - interval '5 seconds'`);
}
