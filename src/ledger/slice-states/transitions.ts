import type { RunState } from '../../domain/runs.ts';
import type { Transaction } from '../session.ts';

/*
 * The states of a slice, one function for each transition: `unpromoted → waiting → queued → held → done`. Only this file writes
 * `state`, `job`, `worker` and `owner`. `slices/plan.ts` and `requests/divide.ts` insert waiting slices. Callers
 * change the job in the same transaction.
 */

export type SliceKey = { readonly run: string; readonly slice: number };

/** A slice, and the owner that must still hold it. */
export type OwnedSlice = SliceKey & { readonly owner: string };

export type SliceJobId = { readonly slice: number; readonly job: string };

/** `unpromoted → waiting`: the run is promoted. */
export async function markPromoted(client: Transaction, run: string): Promise<void> {
  await client.query(`UPDATE slices SET state = 'waiting' WHERE run_id = $1 AND state = 'unpromoted'`, [run]);
}

/**
 * `waiting → queued`, up to `maxRunSlices`. Closed windows keep their slices waiting; windows that close first go
 * first. Variants take turns, so that their answers are of the same time.
 */
export async function markQueued(
  client: Transaction,
  {
    run,
    maxRunSlices,
    firstAlone,
  }: { readonly run: string; readonly maxRunSlices: number; readonly firstAlone: boolean },
): Promise<SliceJobId[]> {
  const { rows } = await client.query<SliceJobId>(
    `
    UPDATE slices s
    SET state = 'queued', job = gen_random_uuid()
    FROM (
      SELECT slice
      FROM (
        SELECT *, row_number() OVER (PARTITION BY window_index, is_canary, variant ORDER BY slice) AS turn
        FROM slices
        WHERE run_id = $1 AND phase = 'sending'
      ) own
      LEFT JOIN (SELECT window_index, opens_at, closes_at FROM run_windows WHERE run_id = $1) w
        USING (window_index)
      WHERE state = 'waiting'
        AND ($3 IS FALSE OR slice = 1
             OR EXISTS (SELECT FROM slices WHERE run_id = $1 AND slice = 1 AND state = 'done'))
        AND opens_at IS NULL
      ORDER BY closes_at, CASE WHEN variant IS NOT NULL THEN turn END, slice
      LIMIT greatest(0, $2 - (SELECT count(*) FROM slices WHERE run_id = $1 AND state IN ('queued', 'held')))
    ) next
    WHERE s.run_id = $1 AND s.slice = next.slice
    RETURNING s.slice, s.job
    `,
    [run, maxRunSlices, firstAlone],
  );
  return rows;
}

/** `waiting, done → queued` for the phase that settles doubts. */
export async function markDoubtsQueued(client: Transaction, run: string): Promise<SliceJobId[]> {
  const { rows } = await client.query<SliceJobId>(
    `
    UPDATE slices
    SET state = 'queued', job = gen_random_uuid()
    WHERE run_id = $1 AND phase = 'settling doubts' AND state IN ('waiting', 'done')
    RETURNING slice, job
    `,
    [run],
  );
  return rows;
}

/** `queued → waiting` */
export async function markDequeued(client: Transaction, run: string): Promise<SliceJobId[]> {
  const { rows } = await client.query<SliceJobId>(
    `
    UPDATE slices s
    SET state = 'waiting', job = NULL
    FROM (SELECT slice, job FROM slices WHERE run_id = $1 AND state = 'queued') was
    WHERE s.run_id = $1 AND s.slice = was.slice
    RETURNING was.slice, was.job
    `,
    [run],
  );
  return rows;
}

/** A slice with its range of requests, or the one that settles doubts (a CHECK constraint of the table). */
type SlicePhase =
  | {
      readonly phase: 'sending';
      readonly first: number;
      readonly last: number;
      /** Requests up to this one that have no rows may have been sent. */
      readonly claimedTo: number;
      readonly version: number;
      readonly windowIndex: number | null;
    }
  | { readonly phase: 'settling doubts'; readonly version: number };

/** `formerOwner`: of whom the lease had expired. */
export type AcquiredSlice = SlicePhase & { readonly formerOwner: string | null };

/** `queued, held → held`. @returns undefined if no slice has this job any more */
export async function markHeld(
  client: Transaction,
  { run, slice, job, worker, owner }: OwnedSlice & { readonly job: string; readonly worker: string },
): Promise<AcquiredSlice | undefined> {
  const { rows } = await client.query<AcquiredSlice>(
    `
    UPDATE slices s
    SET state = 'held', worker = $4, owner = $5, version = version + 1
    FROM (SELECT owner FROM slices WHERE run_id = $1 AND slice = $2 FOR UPDATE) former
    WHERE s.run_id = $1 AND s.slice = $2 AND s.job = $3 AND s.state IN ('queued', 'held')
    RETURNING s.phase, s.first_request AS first, s.last_request AS last, s.claimed_to AS "claimedTo", s.version,
              s.window_index AS "windowIndex", former.owner AS "formerOwner"
    `,
    [run, slice, job, worker, owner],
  );
  return rows[0];
}

/** Records an owner, by which `location/location.ts` finds its claims later. */
export async function recordOwner(
  client: Transaction,
  { run, slice, owner, version }: OwnedSlice & { readonly version: number },
): Promise<void> {
  await client.query('INSERT INTO slice_owners (run_id, slice, version, owner) VALUES ($1, $2, $3, $4)', [
    run,
    slice,
    version,
    owner,
  ]);
}

/** `held → queued` under a new job. */
export async function markPostponed(client: Transaction, { run, slice }: SliceKey): Promise<SliceJobId[]> {
  const { rows } = await client.query<SliceJobId>(
    `
    UPDATE slices
    SET state = 'queued', job = gen_random_uuid(), worker = NULL, owner = NULL
    WHERE run_id = $1 AND slice = $2
    RETURNING slice, job
    `,
    [run, slice],
  );
  return rows;
}

/** `held → done | waiting`. The caller has locked the slice. */
export async function markSendingFinished(
  client: Transaction,
  { run, slice }: SliceKey,
  runState: RunState,
): Promise<'done' | 'waiting'> {
  return setNotHeld(
    client,
    `CASE
       WHEN claimed_to < last_request AND $3 THEN 'waiting'
       WHEN EXISTS (
         SELECT FROM requests
         WHERE run_id = $1 AND request BETWEEN first_request AND last_request AND state = 'planned'
       ) THEN 'waiting'
       ELSE 'done'
     END`,
    [run, slice, runState !== 'cancelled'],
  );
}

/** `held → done | waiting`: waiting for a resend, or for doubts that were not looked up. */
export async function markDoubtsFinished(
  client: Transaction,
  { run, slice }: SliceKey,
  isLeft: boolean,
): Promise<'done' | 'waiting'> {
  return setNotHeld(
    client,
    `CASE
       WHEN $3 OR EXISTS (SELECT FROM slices WHERE run_id = $1 AND phase = 'sending' AND state <> 'done')
       THEN 'waiting'
       ELSE 'done'
     END`,
    [run, slice, isLeft],
  );
}

async function setNotHeld(
  client: Transaction,
  state: string,
  values: unknown[],
): Promise<'done' | 'waiting'> {
  const { rows } = await client.query<{ state: 'done' | 'waiting' }>(
    `
    UPDATE slices
    SET job = NULL, worker = NULL, owner = NULL, state = ${state}
    WHERE run_id = $1 AND slice = $2
    RETURNING state
    `,
    values,
  );
  const [released] = rows;
  if (!released) throw new Error('the held slice does not exist');
  return released.state;
}

/** `held → queued | waiting | done`. Only a queued slice keeps its job. */
export async function markReleased(
  client: Transaction,
  { run, slice }: SliceKey,
  state: 'queued' | 'waiting' | 'done',
): Promise<void> {
  await client.query(
    `
    UPDATE slices
    SET state = $3, worker = NULL, owner = NULL, job = CASE $3 WHEN 'queued' THEN job END
    WHERE run_id = $1 AND slice = $2
    `,
    [run, slice, state],
  );
}

/** `done → waiting` for slices of resent requests. */
export async function reopenSlices(
  client: Transaction,
  run: string,
  requests: readonly number[],
): Promise<void> {
  await client.query(
    `
    UPDATE slices s
    SET state = 'waiting'
    FROM (
      SELECT DISTINCT slice
      FROM unnest($2::integer[]) AS request
      JOIN slices ON run_id = $1 AND request BETWEEN first_request AND last_request
    ) resent
    WHERE s.run_id = $1 AND s.slice = resent.slice AND s.state = 'done'
    `,
    [run, requests],
  );
}

/** `done → waiting` for the phase that settles doubts: requests that an operator resent may be in doubt later. */
export async function reopenDoubts(client: Transaction, run: string): Promise<void> {
  await client.query(
    `UPDATE slices SET state = 'waiting' WHERE run_id = $1 AND phase = 'settling doubts' AND state = 'done'`,
    [run],
  );
}

/** `unpromoted, waiting → done`, for a run that is over. */
export async function markClosed(client: Transaction, run: string): Promise<void> {
  await client.query(
    `UPDATE slices SET state = 'done' WHERE run_id = $1 AND state IN ('unpromoted', 'waiting')`,
    [run],
  );
}
