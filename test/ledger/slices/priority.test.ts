import { describe, expect, test } from 'vitest';
import type { Priority } from '../../../src/domain/runs.ts';
import { pauseRun } from '../../../src/ledger/runs/stop.ts';
import type { SendingSlice } from '../../../src/ledger/slices/acquire.ts';
import { readDispatchProgress } from '../../../src/ledger/slices/progress.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  acquireNextSlice,
  acquireSendingSlice,
  beginSliced,
  claimFrom,
  finishHeld,
  planSlicedRun,
  sliceStates,
} from '../../support/slices.ts';

const opened = useSlicedLedger();

async function begin(priority: Priority, slices = 1, account = 'main'): Promise<string> {
  const run = await planSlicedRun(opened.ledger, slices, 1, { priority, account });
  await beginSliced(opened.ledger, run, { priority, account });
  return run;
}

async function finish(slice: SendingSlice, priority: Priority): Promise<void> {
  await claimFrom(opened.ledger, slice, 1);
  await finishHeld(opened.ledger, slice, { priority, account: slice.account });
}

/** Ends the wait of preempted slices. */
async function endPreemptedWaits(): Promise<void> {
  await opened.ledger.pool.query(`UPDATE volley_queue.job SET start_after = now() WHERE start_after > now()`);
}

describe('acquireSlice', () => {
  test('acquires a slice of the most urgent run first, even if that run began last', async () => {
    const runs = [await begin('bulk'), await begin('normal'), await begin('urgent')];
    for (const [index, priority] of (['urgent', 'normal', 'bulk'] as const).entries()) {
      const held = await acquireSendingSlice(opened.ledger);
      expect(held.run).toBe(runs[2 - index]);
      await finish(held, priority);
    }
  });

  test('preempts a run while a more urgent run of its account has a held slice', async () => {
    const bulk = await begin('bulk', 2);
    await begin('urgent');
    const urgent = await acquireSendingSlice(opened.ledger);
    expect([await acquireNextSlice(opened.ledger), await acquireNextSlice(opened.ledger)]).toEqual([
      { kind: 'preempted' },
      { kind: 'preempted' },
    ]);
    expect(await acquireNextSlice(opened.ledger)).toEqual({ kind: 'none' });
    expect(await sliceStates(opened.ledger, bulk)).toEqual(['waiting', 'queued', 'queued']);

    await finish(urgent, 'urgent');
    await endPreemptedWaits();
    expect((await acquireSendingSlice(opened.ledger)).run).toBe(bulk);
  });

  test('does not preempt runs of other accounts', async () => {
    const bulk = await begin('bulk', 1, 'other');
    await begin('urgent');
    await acquireSendingSlice(opened.ledger);
    expect((await acquireSendingSlice(opened.ledger)).run).toBe(bulk);
  });

  test('acquires a slice of the less urgent run once the more urgent one is paused', async () => {
    const bulk = await begin('bulk');
    const urgent = await begin('urgent');
    await pauseRun(opened.queue, opened.ledger.pool, urgent, { reason: 'test' });
    expect((await acquireSendingSlice(opened.ledger)).run).toBe(bulk);
  });

  test('acquires only slices of urgent runs if that is the minimum priority', async () => {
    await begin('normal', 1, 'other');
    expect(await acquireNextSlice(opened.ledger, undefined, [], 'urgent')).toEqual({ kind: 'none' });
    const urgent = await begin('urgent');
    expect(await acquireNextSlice(opened.ledger, undefined, [], 'urgent')).toMatchObject({
      kind: 'held',
      slice: { run: urgent },
    });
  });
});

test('a preempted run shows that it waits, and for which run', async () => {
  const bulk = await begin('bulk');
  await acquireSendingSlice(opened.ledger);
  const normal = await begin('normal');
  const urgent = await begin('urgent');
  const { pool } = opened.ledger;
  const progress = await readDispatchProgress(pool, [bulk, normal, urgent]);
  expect([bulk, normal, urgent].map((run) => progress.get(run)?.preemptedBy)).toEqual([urgent, urgent, null]);
});
