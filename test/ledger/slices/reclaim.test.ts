import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { reclaimSlicesOfEndedWorkers } from '../../../src/ledger/slices/reclaim.ts';
import { openWorkerSession } from '../../../src/ledger/slices/worker-session.ts';
import { useSlicedLedger } from '../../support/sliced-ledger.ts';
import {
  acquireNextSlice,
  acquireSendingSlice,
  beginSliced,
  claimFrom,
  endStartupGrace,
  planSlicedRun,
  requestStates,
  sliceStates,
} from '../../support/slices.ts';

const opened = useSlicedLedger();

async function begin(slices: number, requestsInSlice = 1): Promise<string> {
  const run = await planSlicedRun(opened.ledger, slices, requestsInSlice);
  await beginSliced(opened.ledger, run);
  return run;
}

describe('reclaimSlicesOfEndedWorkers', () => {
  async function acquireAndClaimAs(worker: string): Promise<void> {
    await claimFrom(opened.ledger, await acquireSendingSlice(opened.ledger, worker), 1);
  }

  const reclaim = (self: string | null = null) =>
    reclaimSlicesOfEndedWorkers(opened.queue, opened.ledger.pool, self, () => new Date());

  test('reclaims only slices of ended workers, and requests in flight become in doubt', async () => {
    const run = await begin(2, 2);
    const [running, ended] = [randomUUID(), randomUUID()];
    const sessions = await Promise.all(
      [running, ended].map((worker) => openWorkerSession(opened.ledger.pool, worker, () => undefined)),
    );
    await acquireAndClaimAs(running);
    await acquireAndClaimAs(ended);
    expect(await reclaim()).toBe(0);
    await sessions[1]?.close();
    expect(await reclaim()).toBe(1);
    expect((await sliceStates(opened.ledger, run)).toSorted()).toEqual(['held', 'queued', 'waiting']);
    expect((await requestStates(opened.ledger, run)).toSorted()).toEqual([
      'in_doubt',
      'planned',
      'planned',
      'sending',
    ]);
    expect(await reclaim()).toBe(0);
    await sessions[0]?.close();
  });

  test('reclaims nothing for a worker whose own session is lost, as others may have lost theirs too', async () => {
    await begin(2);
    const [self, ended] = [randomUUID(), randomUUID()];
    await acquireAndClaimAs(self);
    await acquireAndClaimAs(ended);
    expect(await reclaim(self)).toBe(0);
    const session = await openWorkerSession(opened.ledger.pool, self, () => undefined);
    expect(await reclaim(self)).toBe(1);
    await session.close();
  });

  test('waits for the startup grace after a worker has lost its session', async () => {
    await begin(1);
    await acquireAndClaimAs(randomUUID());
    const self = randomUUID();
    const session = await openWorkerSession(opened.ledger.pool, self, () => undefined, true);
    expect(await reclaim(self)).toBe(0);
    expect(await reclaim()).toBe(0);
    await endStartupGrace(opened.ledger);
    expect(await reclaim()).toBe(1);
    await session.close();
  });

  test('is not delayed further by a session that breaks again and again', async () => {
    await begin(1);
    await acquireAndClaimAs(randomUUID());
    const graceEnds = async () => (await opened.ledger.pool.query('SELECT ends_at FROM startup_grace')).rows;
    const self = randomUUID();
    const first = await openWorkerSession(opened.ledger.pool, self, () => undefined, true);
    const begun = await graceEnds();
    await first.close();
    const next = await openWorkerSession(opened.ledger.pool, self, () => undefined, true);
    expect(await graceEnds()).toEqual(begun);
    await next.close();
    await endStartupGrace(opened.ledger);
  });

  test('leaves the slices of a paused run outside the queue', async () => {
    const run = await begin(1, 2);
    await acquireAndClaimAs(randomUUID());
    await pauseRun(opened.queue, opened.ledger.pool, run, { reason: 'enough' });
    expect(await reclaim()).toBe(1);
    expect(await sliceStates(opened.ledger, run)).toEqual(['waiting', 'waiting']);
    expect(await acquireNextSlice(opened.ledger)).toEqual({ kind: 'none' });
  });

  test('marks slices of a cancelled run as done and cancels the requests that their owners had released', async () => {
    const run = await begin(1, 2);
    await acquireAndClaimAs(randomUUID());
    await cancelRun(opened.queue, opened.ledger.pool, run, { reason: 'enough', now: new Date() });
    await opened.ledger.pool.query(
      `UPDATE requests SET state = 'planned' WHERE run_id = $1 AND state = 'cancelled'`,
      [run],
    );
    expect(await reclaim()).toBe(1);
    expect(await sliceStates(opened.ledger, run)).toEqual(['done', 'done']);
    expect(await requestStates(opened.ledger, run)).toEqual(['in_doubt', 'cancelled']);
  });

  test('skips a run that another transaction is beginning or stopping', async () => {
    const run = await begin(1);
    await acquireAndClaimAs(randomUUID());
    await inTransaction(opened.ledger.pool, async (client) => {
      await client.query('SELECT FROM runs WHERE run_id = $1 FOR UPDATE', [run]);
      expect(await reclaim()).toBe(0);
    });
    expect(await reclaim()).toBe(1);
  });
});
