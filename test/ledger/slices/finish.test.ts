import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import type { RequestState } from '../../../src/domain/runs.ts';
import { advanceSlices } from '../../../src/ledger/requests/advance.ts';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import type { HeldSlice, SendingSlice } from '../../../src/ledger/slices/acquire.ts';
import { readDispatchProgress } from '../../../src/ledger/slices/progress.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { settleRequests } from '../../support/requests.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  acquireAnySlice,
  acquireNextSlice,
  acquireSendingSlice,
  beginSliced,
  claimFrom,
  finishHeld,
  holdDoubts,
  planSlicedRun,
  requestStates,
  sliceStates,
  waitingJobs,
} from '../../support/slices.ts';

const opened = useSlicedLedger();

const oneSlice = { maxRunSlices: 1 };

async function beginNew(slices: number, requestsInSlice = 1): Promise<string> {
  const run = await planSlicedRun(opened.ledger, slices, requestsInSlice);
  await beginSliced(opened.ledger, run, oneSlice);
  return run;
}

const finish = (held: HeldSlice, policy = holdDoubts, interrupted = false) =>
  finishHeld(opened.ledger, held, oneSlice, { policy, interrupted });

/** Sets the state of all requests of a slice. */
async function settleAll({ run, first, last }: SendingSlice, state: RequestState): Promise<void> {
  await createRequestRows(opened.ledger.pool, run);
  await opened.ledger.pool.query(
    'UPDATE requests SET state = $4 WHERE run_id = $1 AND request BETWEEN $2 AND $3',
    [run, first, last, state],
  );
}

async function runState(run: string): Promise<string | undefined> {
  return (await readDispatchProgress(opened.ledger.pool, [run])).get(run)?.state;
}

async function countSessionsInLockWait(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT CAST(count(*) AS integer) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

describe('finishSlice', () => {
  test('marks a slice as done if nothing is left to send, and queues the next one', async () => {
    const run = await beginNew(3);
    const held = await acquireSendingSlice(opened.ledger);
    await settleAll(held, 'accepted');
    expect(await finish(held)).toBe('done');
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'done', 'queued', 'waiting']);
    expect(await waitingJobs(opened.ledger)).toBe(1);
  });

  test('does not block the outcomes of another slice of the run', async () => {
    const { pool, hot } = opened.ledger;
    const run = await planSlicedRun(opened.ledger, 2);
    await beginSliced(opened.ledger, run, { maxRunSlices: 2 });
    const [finished, other] = [
      await acquireSendingSlice(opened.ledger),
      await acquireSendingSlice(opened.ledger),
    ];
    await settleAll(finished, 'accepted');
    const blocker = await pool.connect();
    try {
      await blocker.query('BEGIN; LOCK TABLE slice_outcomes IN EXCLUSIVE MODE');
      const finishing = finish(finished);
      await expect.poll(() => countSessionsInLockWait(pool)).toBe(1);
      const accepted = [
        {
          request: other.first,
          recipients: 1,
          finishedAt: new Date(0),
          tookMs: 1,
          httpStatus: 200,
          jobNumber: undefined,
        },
      ];
      const advance = { ...other, version: other.version + 1, claim: undefined, accepted };
      await advanceSlices(hot, [advance], new Date(), null);
      expect(await countSessionsInLockWait(pool)).toBe(1);
      await blocker.query('COMMIT');
      expect(await finishing).toBe('done');
    } finally {
      blocker.release(true);
    }
  });

  test('returns a slice with planned requests to the queue', async () => {
    const run = await beginNew(1, 2);
    const held = await acquireSendingSlice(opened.ledger);
    expect(await finish(held)).toBe('returned');
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'queued']);
  });

  test('leaves a slice of a paused run outside the queue', async () => {
    const run = await beginNew(2, 2);
    const held = await acquireSendingSlice(opened.ledger);
    await pauseRun(opened.queue, opened.ledger.pool, run, { reason: 'enough' });
    expect(await finish(held)).toBe('returned');
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(await acquireNextSlice(opened.ledger)).toEqual({ kind: 'none' });
  });

  test('marks requests in flight as in doubt', async () => {
    const run = await beginNew(1, 2);
    const held = await acquireSendingSlice(opened.ledger);
    await claimFrom(opened.ledger, held, 2);
    expect(await finish(held)).toBe('done');
    expect(await requestStates(opened.ledger, run)).toEqual(['in_doubt', 'in_doubt']);
  });

  test('cancels requests that the owner released after the run was cancelled', async () => {
    const run = await beginNew(1, 2);
    const held = await acquireSendingSlice(opened.ledger);
    const [sent] = (await claimFrom(opened.ledger, held, 1)).claimed;
    await cancelRun(opened.queue, opened.ledger.pool, run, { reason: 'enough', now: new Date() });
    expect(await requestStates(opened.ledger, run)).toEqual(['sending', 'cancelled']);
    const released = { finishedAt: new Date(), httpStatus: null, detail: null, verdict: 'released' } as const;
    const { slice, owner } = held;
    await settleRequests(opened.ledger.hot, [
      { run, slice, owner, request: 1, attempt: sent?.attempt ?? 0, ...released, state: 'planned' },
    ]);
    expect(await requestStates(opened.ledger, run)).toEqual(['planned', 'cancelled']);
    expect(await finish(held)).toBe('done');
    expect(await requestStates(opened.ledger, run)).toEqual(['cancelled', 'cancelled']);
    expect(await runState(run)).toBe('cancelled');
  });

  test('finishes a slice once', async () => {
    await beginNew(1);
    const held = await acquireSendingSlice(opened.ledger);
    await settleAll(held, 'accepted');
    expect([await finish(held), await finish(held)]).toEqual(['done', 'lost']);
  });
});

describe('the last slice of a run', () => {
  test('completes the run, even if it is paused', async () => {
    const run = await beginNew(1);
    const held = await acquireSendingSlice(opened.ledger);
    await settleAll(held, 'accepted');
    await pauseRun(opened.queue, opened.ledger.pool, run, { reason: 'enough' });
    await finish(held);
    expect(await runState(run)).toBe('completed');
    expect(await sliceStates(opened.ledger, run)).toEqual(['done', 'done']);
  });

  test('does not complete the run while another slice is left', async () => {
    const run = await beginNew(2);
    const held = await acquireSendingSlice(opened.ledger);
    await settleAll(held, 'accepted');
    await finish(held);
    expect(await runState(run)).toBe('running');
  });

  test.each([
    [
      'completes a run whose doubts neither a look-up nor a resend can settle',
      'in_doubt',
      holdDoubts,
      'completed',
    ],
    [
      'queues the phase that settles doubts for a look-up',
      'in_doubt',
      { lookUp: true, resends: 0 },
      'running',
    ],
    [
      'queues the phase that settles doubts for resends',
      'in_doubt',
      { lookUp: false, resends: 1 },
      'running',
    ],
    ['completes a run without doubts', 'accepted', { lookUp: true, resends: 1 }, 'completed'],
  ] as const)('%s', async (_, state, policy, end) => {
    const run = await beginNew(1);
    const held = await acquireSendingSlice(opened.ledger);
    await settleAll(held, state);
    await finish(held, policy);
    expect(await runState(run)).toBe(end);
    expect(await sliceStates(opened.ledger, run)).toEqual([end === 'running' ? 'queued' : 'done', 'done']);
  });

  test('completes the run after the phase that settles doubts, even if some remain', async () => {
    const run = await beginNew(1);
    const held = await acquireSendingSlice(opened.ledger);
    await settleAll(held, 'in_doubt');
    const policy = { lookUp: true, resends: 0 };
    await finish(held, policy);
    const phase = async () => (await readDispatchProgress(opened.ledger.pool, [run])).get(run)?.phase;
    expect(await phase()).toBe('settling doubts');
    const doubts = await acquireAnySlice(opened.ledger);
    expect(doubts.phase).toBe('settling doubts');
    expect(await finish(doubts, policy)).toBe('done');
    expect(await runState(run)).toBe('completed');
  });

  test('queues an interrupted phase that settles doubts again', async () => {
    const run = await beginNew(1);
    const held = await acquireSendingSlice(opened.ledger);
    await settleAll(held, 'in_doubt');
    const policy = { lookUp: true, resends: 0 };
    await finish(held, policy);
    expect(await finish(await acquireAnySlice(opened.ledger), policy, true)).toBe('returned');
    expect(await runState(run)).toBe('running');
    expect(await sliceStates(opened.ledger, run)).toEqual(['queued', 'done']);
  });
});
