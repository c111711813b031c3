import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ledger, openLedger } from '../../../src/ledger/connection.ts';
import { reclaimSlicesOfEndedWorkers } from '../../../src/ledger/slices/reclaim.ts';
import { executeOn, expectAllSentOnce, planRequests } from '../../support/outage-runs.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/own-postgres.ts';
import { type SendPeer, sendPeer } from '../../support/send-peer.ts';
import { acquireSliceOf, endStartupGrace } from '../../support/slices.ts';

let postgres: OwnPostgres;
let url: string;
let ledger: Ledger;
beforeAll(async () => {
  postgres = await startOwnPostgres();
  url = await postgres.createDatabase();
  ledger = await openLedger({ connectionString: url }, 'own Postgres');
});
afterAll(async () => {
  await ledger.close();
  await postgres[Symbol.asyncDispose]();
});

const slowService = () =>
  sendPeer(async () => {
    await sleep(10);
    return { kind: 'accepted' };
  });

async function hasReceived(service: SendPeer, requests: number): Promise<void> {
  while (service.calls.length < requests) await sleep(5);
}

test('a run waits while Postgres restarts, reports that once, and goes on', async () => {
  await using service = await slowService();
  const run = await planRequests(ledger, 300);
  const executed = executeOn(url, run, service);
  await hasReceived(service, 50);
  await postgres.kill();
  const before = service.calls.length;
  await sleep(1_500);
  // Claimed before, with four in flight.
  expect(service.calls.length).toBeLessThanOrEqual(before + 12);
  await postgres.start();
  const { end, outages } = await executed;
  expect([end.kind, outages]).toEqual(['finished', ['down', 'up']]);
  await expectAllSentOnce(ledger, run, service, 300);
});

test('after a restart of Postgres, two processes that share a run do not reclaim each other’s slices', async () => {
  await using service = await slowService();
  const run = await planRequests(ledger, 1_200);
  const executed = [executeOn(url, run, service), executeOn(url, run, service)];
  await hasReceived(service, 100);
  await postgres.kill();
  await sleep(1_500);
  await postgres.start();
  for (const { end } of await Promise.all(executed)) expect(end.kind).toBe('finished');
  await expectAllSentOnce(ledger, run, service, 1_200);
});

/** Holds a slice for a worker without a session. */
async function leaveSliceHeld(): Promise<void> {
  await acquireSliceOf(ledger, await planRequests(ledger, 10));
}

async function reclaim(): Promise<number> {
  await postgres.isReady();
  return reclaimSlicesOfEndedWorkers(await ledger.queue(), ledger.pool, null, () => new Date());
}

test.each([
  ['a killed session of Postgres ends all others', () => postgres.killSession()],
  ['Postgres is killed and started', () => postgres.kill().then(postgres.start)],
  ['Postgres is stopped and started', () => postgres.stop().then(postgres.start)],
])(
  'after %s, the slices of a worker without a session are reclaimed only after five seconds',
  async (_, happens) => {
    await endStartupGrace(ledger);
    await reclaim();
    await leaveSliceHeld();
    await happens();
    expect(await reclaim()).toBe(0);
    await endStartupGrace(ledger);
    expect(await reclaim()).toBeGreaterThan(0);
  },
);
