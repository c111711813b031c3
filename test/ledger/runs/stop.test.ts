import { describe, expect, test } from 'vitest';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  acquireNextSlice,
  acquireSendingSlice,
  beginSliced,
  claimFrom,
  planSlicedRun,
  requestStates,
  sliceStates,
  waitingJobs,
} from '../../support/slices.ts';

const opened = useSlicedLedger();

const pause = (run: string) => pauseRun(opened.queue, opened.ledger.pool, run, { reason: 'lunch' });
const cancel = (run: string) =>
  cancelRun(opened.queue, opened.ledger.pool, run, { reason: 'wrong list', now: new Date() });

const begin = (run: string) => beginSliced(opened.ledger, run, { maxRunSlices: 2 });

async function beginNew(slices: number): Promise<string> {
  const run = await planSlicedRun(opened.ledger, slices);
  await begin(run);
  return run;
}

async function runOf(run: string) {
  const { rows } = await opened.ledger.pool.query('SELECT state, state_reason FROM runs WHERE run_id = $1', [
    run,
  ]);
  return rows[0];
}

describe('pauseRun', () => {
  test('stores the reason and removes all slices from the queue that are not held', async () => {
    const run = await beginNew(4);
    await acquireSendingSlice(opened.ledger);
    expect(await pause(run)).toEqual({ changed: true, state: 'running' });
    expect(await runOf(run)).toEqual({ state: 'paused', state_reason: 'lunch' });
    expect((await sliceStates(opened.ledger, run)).toSorted()).toEqual([
      'held',
      'waiting',
      'waiting',
      'waiting',
      'waiting',
    ]);
    expect(await waitingJobs(opened.ledger)).toBe(0);
  });

  test('refuses claims of workers that hold slices of the run', async () => {
    const run = await beginNew(1);
    const held = await acquireSendingSlice(opened.ledger);
    await pause(run);
    expect((await claimFrom(opened.ledger, held, 1)).claimed).toEqual([]);
    expect(await requestStates(opened.ledger, run)).toEqual(['planned']);
  });

  test('lets a resumed run queue slices again, up to its maximum', async () => {
    const run = await beginNew(4);
    await pause(run);
    expect(await begin(run)).toBe('paused');
    expect(await runOf(run)).toEqual({ state: 'running', state_reason: null });
    expect(await sliceStates(opened.ledger, run)).toEqual([
      'waiting',
      'queued',
      'queued',
      'waiting',
      'waiting',
    ]);
    await acquireSendingSlice(opened.ledger);
    await acquireSendingSlice(opened.ledger);
    expect(await acquireNextSlice(opened.ledger)).toEqual({ kind: 'none' });
  });

  test('changes nothing if the run is paused already', async () => {
    const run = await beginNew(1);
    await pause(run);
    expect(await pause(run)).toEqual({ changed: false, state: 'paused' });
  });
});

describe('cancelRun', () => {
  test('cancels planned requests and leaves requests in flight to their worker', async () => {
    const run = await beginNew(3);
    await claimFrom(opened.ledger, await acquireSendingSlice(opened.ledger), 1);
    expect(await cancel(run)).toEqual({ changed: true, state: 'running' });
    expect((await requestStates(opened.ledger, run)).toSorted()).toEqual([
      'cancelled',
      'cancelled',
      'sending',
    ]);
    expect((await sliceStates(opened.ledger, run)).toSorted()).toEqual(['done', 'done', 'done', 'held']);
    expect(await waitingJobs(opened.ledger)).toBe(0);
  });

  test('makes a later begin change nothing', async () => {
    const run = await beginNew(1);
    await cancel(run);
    expect(await begin(run)).toBe('cancelled');
    expect(await runOf(run)).toEqual({ state: 'cancelled', state_reason: 'wrong list' });
  });

  test('returns requests that wait for a resend to in doubt, because the service may have them', async () => {
    const run = await beginNew(2);
    await pause(run);
    await createRequestRows(opened.ledger.pool, run);
    await opened.ledger.pool.query(
      'UPDATE requests SET resends = 1, attempts = 1 WHERE run_id = $1 AND request = 1',
      [run],
    );
    await cancel(run);
    expect(await requestStates(opened.ledger, run)).toEqual(['in_doubt', 'cancelled']);
  });
});

test.each(['completed', 'cancelled'])('a run that is %s is neither paused nor cancelled', async (state) => {
  const run = await planSlicedRun(opened.ledger, 1);
  await opened.ledger.pool.query('UPDATE runs SET state = $2 WHERE run_id = $1', [run, state]);
  expect([await pause(run), await cancel(run)]).toEqual([
    { changed: false, state },
    { changed: false, state },
  ]);
});

test('an unknown run is neither paused nor cancelled', async () => {
  expect([await pause('nothing'), await cancel('nothing')]).toEqual([undefined, undefined]);
});
