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

test('Postgres is killed and comes back in the middle of a run: the run waits, says so once, and goes on', async () => {
  await using service = await slowService();
  const run = await planRequests(ledger, 300);
  const executed = executeOn(url, run, service);
  await hasReceived(service, 50);
  await postgres.kill();
  const before = service.calls.length;
  await sleep(1_500);
  // What was claimed then, of four in flight.
  expect(service.calls.length).toBeLessThanOrEqual(before + 12);
  await postgres.start();
  const { end, outages } = await executed;
  expect([end.kind, outages]).toEqual(['finished', ['away', 'back']]);
  await expectAllSentOnce(ledger, run, service, 300);
});

test('when Postgres is killed and comes back, two that share a run do not take each other for dead', async () => {
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

/** A slice whose worker has no session, as after the end of all sessions. */
async function leaveSliceHeld(): Promise<void> {
  await acquireSliceOf(ledger, await planRequests(ledger, 10));
}

/** Of the workers that have no session, how many slices are taken from them now. */
async function reclaim(): Promise<number> {
  await postgres.isReady();
  return reclaimSlicesOfEndedWorkers(await ledger.queue(), ledger.pool, null, () => new Date());
}

test.each([
  ['a session of Postgres dies and takes all others along', () => postgres.killSession()],
  ['Postgres is killed and started', () => postgres.kill().then(postgres.start)],
  ['Postgres is stopped and started', () => postgres.stop().then(postgres.start)],
])(
  'right after %s, a worker without a session is not taken for dead before five seconds have passed',
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
