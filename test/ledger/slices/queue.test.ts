import { describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/ledger/session.ts';
import { renewLeases } from '../../../src/ledger/slices/acquire.ts';
import { enqueueSlices, type SlicePlan } from '../../../src/ledger/slices/enqueue.ts';
import { returnSlice } from '../../../src/ledger/slices/reclaim.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  acquireNextSlice,
  acquireSendingSlice,
  beginSliced,
  claimFrom,
  expireLeaseOf,
  finishHeld,
  planSlicedRun,
  requestStates,
  slicePlanOf,
  sliceStates,
  waitingJobs,
} from '../../support/slices.ts';

const opened = useSlicedLedger();

async function begin(slices: number, changes: Partial<SlicePlan> = {}, requestsInSlice = 1): Promise<string> {
  const run = await planSlicedRun(opened.ledger, slices, requestsInSlice);
  await beginSliced(opened.ledger, run, changes);
  return run;
}

const enqueue = (run: string, changes: Partial<SlicePlan> = {}) =>
  inTransaction(opened.ledger.pool, (client) =>
    enqueueSlices(opened.queue, client, slicePlanOf(run, changes)),
  );

describe('enqueueSlices', () => {
  test('queues the lowest slices, up to the maximum of the run', async () => {
    const run = await begin(5, { maxRunSlices: 2 });
    expect(await sliceStates(opened.ledger, run)).toEqual([
      'waiting',
      'queued',
      'queued',
      'waiting',
      'waiting',
      'waiting',
    ]);
    expect(await waitingJobs(opened.ledger)).toBe(2);
  });

  test('counts held slices too, and a second call queues nothing', async () => {
    const run = await begin(5, { maxRunSlices: 2 });
    await acquireSendingSlice(opened.ledger);
    expect(await enqueue(run, { maxRunSlices: 2 })).toBe(0);
    expect(await enqueue(run, { maxRunSlices: 3 })).toBe(1);
    expect(await waitingJobs(opened.ledger)).toBe(2);
  });

  test('queues the first slice alone, and the others once it is done', async () => {
    const run = await begin(3, { firstAlone: true });
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'queued', 'waiting', 'waiting']);
    const first = await acquireSendingSlice(opened.ledger);
    await claimFrom(opened.ledger, first, 1);
    await finishHeld(opened.ledger, first, { firstAlone: true });
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'done', 'queued', 'queued']);
  });

  test('rolls back with its transaction', async () => {
    const run = await planSlicedRun(opened.ledger, 1);
    const failing = inTransaction(opened.ledger.pool, async (client) => {
      await enqueueSlices(opened.queue, client, slicePlanOf(run));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await waitingJobs(opened.ledger)).toBe(0);
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'waiting']);
  });
});

describe('acquireSlice', () => {
  test('holds each slice under an owner of its own', async () => {
    const run = await begin(2);
    const acquired = [await acquireSendingSlice(opened.ledger), await acquireSendingSlice(opened.ledger)];
    expect(acquired.map(({ slice }) => slice).toSorted()).toEqual([1, 2]);
    expect(new Set(acquired.map(({ owner }) => owner)).size).toBe(2);
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'held', 'held']);
    expect(await acquireNextSlice(opened.ledger)).toEqual({ kind: 'none' });
  });

  test('stops at the maximum of the account, over all its runs and workers', async () => {
    await begin(3, { maxAccountSlices: 2 });
    await begin(3, { maxAccountSlices: 2 });
    const kinds = [];
    for (let count = 0; count < 3; count++) kinds.push((await acquireNextSlice(opened.ledger)).kind);
    expect(kinds).toEqual(['held', 'held', 'none']);
    await begin(1, { account: 'other' });
    expect((await acquireNextSlice(opened.ledger)).kind).toBe('held');
  });

  test('acquires the next slice once one of the account is finished', async () => {
    await begin(3, { maxAccountSlices: 1 });
    const first = await acquireSendingSlice(opened.ledger);
    expect((await acquireNextSlice(opened.ledger)).kind).toBe('none');
    await finishHeld(opened.ledger, first, { maxAccountSlices: 1 });
    expect((await acquireNextSlice(opened.ledger)).kind).toBe('held');
  });

  test('ignores slices of accounts that the process does not have', async () => {
    await begin(1, { account: 'elsewhere' });
    expect(await acquireNextSlice(opened.ledger, undefined, ['elsewhere'])).toEqual({ kind: 'none' });
    expect((await acquireNextSlice(opened.ledger)).kind).toBe('held');
  });

  test('makes a planned run running', async () => {
    const run = await planSlicedRun(opened.ledger, 1);
    await enqueue(run);
    await acquireSendingSlice(opened.ledger);
    const { rows } = await opened.ledger.pool.query('SELECT state FROM runs WHERE run_id = $1', [run]);
    expect(rows).toEqual([{ state: 'running' }]);
  });

  test('deletes a job whose slice was finished in between', async () => {
    const run = await begin(1);
    const held = await acquireSendingSlice(opened.ledger);
    await expireLeaseOf(opened.ledger, run, 1);
    await claimFrom(opened.ledger, held, 1);
    await finishHeld(opened.ledger, held);
    expect(await acquireNextSlice(opened.ledger)).toEqual({ kind: 'stale' });
    expect(await acquireNextSlice(opened.ledger)).toEqual({ kind: 'none' });
  });

  test('acquires a slice with an expired lease, whose requests in flight become in doubt while the rest stays planned', async () => {
    const run = await begin(1, {}, 2);
    const former = await acquireSendingSlice(opened.ledger);
    await claimFrom(opened.ledger, former, 1);
    expect(await renewLeases(opened.queue, [former.job])).toEqual([former.job.id]);
    await expireLeaseOf(opened.ledger, run, 1);
    expect(await renewLeases(opened.queue, [former.job])).toEqual([]);

    const next = await acquireSendingSlice(opened.ledger);
    expect(next.slice).toBe(1);
    expect(await requestStates(opened.ledger, run)).toEqual(['in_doubt', 'planned']);
    expect((await claimFrom(opened.ledger, former, 1)).claimed).toEqual([]);
    expect((await claimFrom(opened.ledger, next, 2)).claimed).toMatchObject([{ request: 2 }]);
    const late = await finishHeld(opened.ledger, former);
    expect(late).toBe('lost');
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'held']);
  });
});

test('a slice whose worker lacks the account is queued again for another worker', async () => {
  const run = await begin(1);
  const held = await acquireSendingSlice(opened.ledger);
  await returnSlice(opened.queue, opened.ledger.pool, held, new Date());
  expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'queued']);
  expect((await acquireSendingSlice(opened.ledger)).owner).not.toBe(held.owner);
});
