import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { beginRun } from '../../../src/ledger/runs/begin.ts';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { reapDeadWorkers } from '../../../src/ledger/slices/reap.ts';
import { openWorkerSession } from '../../../src/ledger/slices/session.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  claimFrom,
  planSlicedRun,
  requestStates,
  sliceStates,
  takeHeldSlice,
  takeSlice,
} from '../../support/slices.ts';

const opened = useSlicedLedger();

async function begin(slices: number, requestsInSlice = 1): Promise<string> {
  const run = await planSlicedRun(opened.ledger, slices, requestsInSlice);
  const plan = { run, account: 'main', slots: 4, atOnce: 4, canary: false, priority: 'normal' as const };
  await beginRun(opened.queue, opened.ledger.pool, plan, { lookUp: false, resends: 0 }, new Date());
  return run;
}

describe('the slices of dead workers', () => {
  async function takeAs(worker: string): Promise<void> {
    await claimFrom(opened.ledger, await takeHeldSlice(opened.ledger, worker), 1);
  }

  const reap = (self: string | null = null) =>
    reapDeadWorkers(opened.queue, opened.ledger.pool, self, () => new Date());

  test('are taken from them, and only from them; what they were sending is in doubt', async () => {
    const run = await begin(2, 2);
    const [living, dead] = [randomUUID(), randomUUID()];
    const sessions = await Promise.all(
      [living, dead].map((worker) => openWorkerSession(opened.ledger.pool, worker, () => undefined)),
    );
    await takeAs(living);
    await takeAs(dead);
    expect(await reap()).toBe(0);
    await sessions[1]?.close();
    expect(await reap()).toBe(1);
    expect((await sliceStates(opened.ledger, run)).toSorted()).toEqual(['held', 'queued', 'waiting']);
    expect((await requestStates(opened.ledger, run)).toSorted()).toEqual([
      ...['in_doubt', 'planned', 'planned', 'sending'],
    ]);
    expect(await reap()).toBe(0);
    await sessions[0]?.close();
  });

  test('are not a worker’s own, whose session has just broken', async () => {
    await begin(1);
    const self = randomUUID();
    await takeAs(self);
    expect(await reap(self)).toBe(0);
    expect(await reap(randomUUID())).toBe(1);
  });

  test('wait outside the queue in a run that is paused', async () => {
    const run = await begin(1, 2);
    await takeAs(randomUUID());
    await pauseRun(opened.queue, opened.ledger.pool, run, 'enough');
    expect(await reap()).toBe(1);
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'waiting']);
    expect(await takeSlice(opened.ledger)).toEqual({ kind: 'none' });
  });

  test('are done in a run that was cancelled, and what they gave back before they died is cancelled', async () => {
    const run = await begin(1, 2);
    await takeAs(randomUUID());
    await cancelRun(opened.queue, opened.ledger.pool, run, 'enough', new Date());
    await opened.ledger.pool.query(
      `UPDATE requests SET state = 'planned' WHERE run_id = $1 AND state = 'cancelled'`,
      [run],
    );
    expect(await reap()).toBe(1);
    expect(await sliceStates(opened.ledger, run)).toEqual(['done', 'done']);
    expect(await requestStates(opened.ledger, run)).toEqual(['in_doubt', 'cancelled']);
  });

  test('are left for the next time while somebody begins or stops their run', async () => {
    const run = await begin(1);
    await takeAs(randomUUID());
    await inTransaction(opened.ledger.pool, async (client) => {
      await client.query('SELECT FROM runs WHERE run_id = $1 FOR UPDATE', [run]);
      expect(await reap()).toBe(0);
    });
    expect(await reap()).toBe(1);
  });
});
