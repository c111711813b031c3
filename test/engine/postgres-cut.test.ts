import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { executeOn, expectAllSentOnce, planRequests } from '../support/outage-runs.ts';
import { type Cut, type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts';
import { sendPeer } from '../support/send-peer.ts';

let opened: TestLedger;
let proxy: PostgresProxy;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());
beforeEach(async () => {
  proxy = await startPostgresProxy(opened.url);
});
afterEach(() => proxy[Symbol.asyncDispose]());

const claim: Omit<Cut, 'executed'> = { statement: /FOR UPDATE SKIP LOCKED\s+\), checked AS/, after: 2 };
const settle: Omit<Cut, 'executed'> = { statement: /\), settled AS \(\s+UPDATE requests/, after: 2 };

/** What a run does in the ledger, and where a connection is lost in it. */
const moments: readonly (readonly [string, Omit<Cut, 'executed'>])[] = [
  ['the run begins', { statement: /UPDATE runs SET state = 'running', state_reason/, commit: true }],
  ['a slice is acquired', { statement: /SET state = 'held'/, commit: true }],
  ['requests are claimed', claim],
  ['outcomes are recorded', settle],
  ['a next attempt is begun', { statement: /verdict = 'retry'/ }],
  ['a slice is finished', { statement: /SET job = NULL, worker = NULL, owner = NULL/, commit: true }],
  ['the session of the worker is opened', { statement: /SELECT pg_advisory_lock/ }],
];

describe.each(moments)('the connection is lost when %s', (_, moment) => {
  test.each([
    ['before Postgres executes it', false],
    ['after Postgres executed it, before it can say so', true],
  ])('%s: all is sent once and recorded, and nothing is in doubt', async (_, executed) => {
    await using service = await sendPeer(({ number, call }) => ({
      kind: number % 10 === 0 && call === 1 ? 'busy' : 'accepted',
    }));
    const run = await planRequests(opened.ledger, 40);
    let cuts = 0;
    void proxy.cut({ ...moment, executed }).then(() => cuts++);
    const { end } = await executeOn(proxy.url, run, service);
    expect(end.kind).toBe('finished');
    expect(cuts).toBe(1);
    await expectAllSentOnce(opened.ledger, run, service, 40);
  });
});
