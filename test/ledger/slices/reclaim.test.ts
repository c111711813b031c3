import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { beginRun } from '../../../src/ledger/runs/begin.ts';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { reclaimSlicesOfEndedWorkers } from '../../../src/ledger/slices/reclaim.ts';
import { openWorkerSession } from '../../../src/ledger/slices/worker-session.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  acquireNextSlice,
  acquireSendingSlice,
  claimFrom,
  endStartupGrace,
  planSlicedRun,
  requestStates,
  sliceStates,
} from '../../support/slices.ts';

const opened = useSlicedLedger();

async function begin(slices: number, requestsInSlice = 1): Promise<string> {
  const run = await planSlicedRun(opened.ledger, slices, requestsInSlice);
  const plan = {
    run,
    account: 'main',
    maxAccountSlices: 4,
    maxRunSlices: 4,
    canary: false,
    priority: 'normal' as const,
  };
  await beginRun(opened.queue, opened.ledger.pool, plan, { lookUp: false, resends: 0 }, new Date());
  return run;
}

describe('the slices of dead workers', () => {
  async function takeAs(worker: string): Promise<void> {
    await claimFrom(opened.ledger, await acquireSendingSlice(opened.ledger, worker), 1);
  }

  const reclaim = (self: string | null = null) =>
    reclaimSlicesOfEndedWorkers(opened.queue, opened.ledger.pool, self, () => new Date());

  test('are taken from them, and only from them; what they were sending is in doubt', async () => {
    const run = await begin(2, 2);
    const [living, dead] = [randomUUID(), randomUUID()];
    const sessions = await Promise.all(
      [living, dead].map((worker) => openWorkerSession(opened.ledger.pool, worker, () => undefined)),
    );
    await takeAs(living);
    await takeAs(dead);
    expect(await reclaim()).toBe(0);
    await sessions[1]?.close();
    expect(await reclaim()).toBe(1);
    expect((await sliceStates(opened.ledger, run)).toSorted()).toEqual(['held', 'queued', 'waiting']);
    expect((await requestStates(opened.ledger, run)).toSorted()).toEqual([
      ...['in_doubt', 'planned', 'planned', 'sending'],
    ]);
    expect(await reclaim()).toBe(0);
    await sessions[0]?.close();
  });

  test('are reclaimed by no worker whose own session is lost: others may have lost theirs by the same event', async () => {
    await begin(2);
    const [self, dead] = [randomUUID(), randomUUID()];
    await takeAs(self);
    await takeAs(dead);
    expect(await reclaim(self)).toBe(0);
    const session = await openWorkerSession(opened.ledger.pool, self, () => undefined);
    expect(await reclaim(self)).toBe(1);
    await session.close();
  });

  test('are reclaimed only when the others have had time to come back, after a worker has lost its session', async () => {
    await begin(1);
    await takeAs(randomUUID());
    const self = randomUUID();
    const session = await openWorkerSession(opened.ledger.pool, self, () => undefined, true);
    expect(await reclaim(self)).toBe(0);
    expect(await reclaim()).toBe(0);
    await endStartupGrace(opened.ledger);
    expect(await reclaim()).toBe(1);
    await session.close();
  });

  test('do not stay unnoticed because the session of another worker breaks again and again', async () => {
    await begin(1);
    await takeAs(randomUUID());
    const graces = async () => (await opened.ledger.pool.query('SELECT ends_at FROM startup_grace')).rows;
    const self = randomUUID();
    const first = await openWorkerSession(opened.ledger.pool, self, () => undefined, true);
    const begun = await graces();
    await first.close();
    const next = await openWorkerSession(opened.ledger.pool, self, () => undefined, true);
    expect(await graces()).toEqual(begun);
    await next.close();
    await endStartupGrace(opened.ledger);
  });

  test('wait outside the queue in a run that is paused', async () => {
    const run = await begin(1, 2);
    await takeAs(randomUUID());
    await pauseRun(opened.queue, opened.ledger.pool, run, 'enough');
    expect(await reclaim()).toBe(1);
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'waiting']);
    expect(await acquireNextSlice(opened.ledger)).toEqual({ kind: 'none' });
  });

  test('are done in a run that was cancelled, and what they gave back before they died is cancelled', async () => {
    const run = await begin(1, 2);
    await takeAs(randomUUID());
    await cancelRun(opened.queue, opened.ledger.pool, run, 'enough', new Date());
    await opened.ledger.pool.query(
      `UPDATE requests SET state = 'planned' WHERE run_id = $1 AND state = 'cancelled'`,
      [run],
    );
    expect(await reclaim()).toBe(1);
    expect(await sliceStates(opened.ledger, run)).toEqual(['done', 'done']);
    expect(await requestStates(opened.ledger, run)).toEqual(['in_doubt', 'cancelled']);
  });

  test('are left for the next time while their run is being begun or stopped', async () => {
    const run = await begin(1);
    await takeAs(randomUUID());
    await inTransaction(opened.ledger.pool, async (client) => {
      await client.query('SELECT FROM runs WHERE run_id = $1 FOR UPDATE', [run]);
      expect(await reclaim()).toBe(0);
    });
    expect(await reclaim()).toBe(1);
  });
});
