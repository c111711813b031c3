import { describe, expect, test } from 'vitest';
import type { Priority } from '../../../src/domain/runs.ts';
import { beginRun } from '../../../src/ledger/runs/begin.ts';
import { pauseRun } from '../../../src/ledger/runs/stop.ts';
import type { SendingSlice } from '../../../src/ledger/slices/acquire.ts';
import { finishSlice } from '../../../src/ledger/slices/finish.ts';
import { findPreemptingRun } from '../../../src/ledger/slices/priority.ts';
import { readDispatchProgress } from '../../../src/ledger/slices/progress.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  acquireNextSlice,
  acquireSendingSlice,
  claimFrom,
  planSlicedRun,
  sliceStates,
} from '../../support/slices.ts';

const opened = useSlicedLedger();

const policy = { lookUp: false, resends: 0 };

async function begin(priority: Priority, slices = 1, account = 'main'): Promise<string> {
  const run = await planSlicedRun(opened.ledger, slices, 1, { priority, account });
  await beginRun(opened.queue, opened.ledger.pool, planOf(run, priority, account), policy, new Date());
  return run;
}

const planOf = (run: string, priority: Priority, account = 'main') => ({
  ...{ run, account, priority, maxAccountSlices: 4, maxRunSlices: 4, canary: false },
});

async function finish(slice: SendingSlice, priority: Priority): Promise<void> {
  await claimFrom(opened.ledger, slice, 1);
  const plan = planOf(slice.run, priority, slice.account);
  await finishSlice(opened.queue, opened.ledger.pool, slice, plan, policy, false, new Date());
}

/** As if the time had passed that a slice waits for its run's turn. */
async function outwaitTurns(): Promise<void> {
  await opened.ledger.pool.query(`UPDATE volley_queue.job SET start_after = now() WHERE start_after > now()`);
}

describe('taking a slice', () => {
  test('takes that of the most urgent run first, however late it came', async () => {
    const runs = [await begin('bulk'), await begin('normal'), await begin('urgent')];
    for (const [index, priority] of (['urgent', 'normal', 'bulk'] as const).entries()) {
      const held = await acquireSendingSlice(opened.ledger);
      expect(held.run).toBe(runs[2 - index]);
      await finish(held, priority);
    }
  });

  test('leaves a run alone while a more urgent one of its account is in somebody’s hands', async () => {
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
    await outwaitTurns();
    expect((await acquireSendingSlice(opened.ledger)).run).toBe(bulk);
  });

  test('goes by the account: those of others are not overtaken', async () => {
    const bulk = await begin('bulk', 1, 'other');
    await begin('urgent');
    await acquireSendingSlice(opened.ledger);
    expect((await acquireSendingSlice(opened.ledger)).run).toBe(bulk);
  });

  test('goes on when the more urgent run is paused', async () => {
    const bulk = await begin('bulk');
    const urgent = await begin('urgent');
    await pauseRun(opened.queue, opened.ledger.pool, urgent, 'test');
    expect((await acquireSendingSlice(opened.ledger)).run).toBe(bulk);
  });

  test('takes only urgent ones where there is room for no others', async () => {
    await begin('normal', 1, 'other');
    expect(await acquireNextSlice(opened.ledger, undefined, [], 'urgent')).toEqual({ kind: 'none' });
    const urgent = await begin('urgent');
    expect(await acquireNextSlice(opened.ledger, undefined, [], 'urgent')).toMatchObject({
      kind: 'held',
      slice: { run: urgent },
    });
  });
});

test('a run that is overtaken says so, and which run goes before it', async () => {
  const bulk = await begin('bulk');
  await acquireSendingSlice(opened.ledger);
  const normal = await begin('normal');
  const urgent = await begin('urgent');
  const { pool } = opened.ledger;
  const watches = await readDispatchProgress(pool, [bulk, normal, urgent]);
  expect([bulk, normal, urgent].map((run) => watches.get(run)?.preempted)).toEqual([true, true, false]);
  expect(await findPreemptingRun(pool, bulk)).toBe(urgent);
  expect(await findPreemptingRun(pool, urgent)).toBeUndefined();
});
