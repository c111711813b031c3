import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ledger, openLedger } from '../../../src/ledger/connection.ts';
import { leaseSeconds } from '../../../src/ledger/slices/queue.ts';
import { executeIn, expectAllSentOnce, planRequests } from '../../support/outage-runs.ts';
import { type Cut, type PostgresProxy, startPostgresProxy } from '../../support/postgres-proxy.ts';
import { sendPeer } from '../../support/send-peer.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let proxy: PostgresProxy;
/** Connects through the proxy. */
let engine: Ledger;
beforeAll(async () => {
  proxy = await startPostgresProxy(opened.url);
  engine = await openLedger({ connectionString: proxy.url }, 'test database');
});
afterAll(async () => {
  await engine.close();
  await proxy[Symbol.asyncDispose]();
});

const advance: Omit<Cut, 'executed'> = { statement: /^\s*WITH step AS MATERIALIZED/, after: 2 };
const settle: Omit<Cut, 'executed'> = { statement: /\), settled AS \(\s+UPDATE requests/ };
const addRows: Omit<Cut, 'executed'> = { statement: /INSERT INTO requests/, commit: true };

const changesState: Omit<Cut, 'executed'> = { statement: /UPDATE runs\s+SET state = \$3/ };

/** A step of a run, and the statement at which the connection is lost. */
const moments: readonly (readonly [string, Omit<Cut, 'executed'>])[] = [
  ['the run begins', { ...changesState, commit: true }],
  ['a slice is acquired', { statement: /SET state = 'held'/, commit: true }],
  ['requests are claimed and are recorded as accepted', advance],
  ['requests get rows of their own', addRows],
  ['outcomes of rows are recorded', settle],
  ['a retry begins', { statement: /verdict = 'retry'/, commit: true }],
  ['a slice is finished', { statement: /SET job = NULL, worker = NULL, owner = NULL/, commit: true }],
  ['the session of the worker is opened', { statement: /SELECT pg_advisory_lock/ }],
];

const when = [
  ['before Postgres executes it', 'never'],
  ['after Postgres executed it and before it answers', 'at once'],
  ['and Postgres commits it late', 'late'],
] as const;

/** @returns the number of cuts so far */
function cut(moment: Cut): () => number {
  let times = 0;
  void proxy.cut(moment).then(() => times++);
  return () => times;
}

describe.each(moments)('the connection is lost when %s', (_, moment) => {
  test.each(when)(
    '%s: every request is sent once and recorded, and none is in doubt',
    async (_, executed) => {
      await using service = await sendPeer(({ number, call }) => ({
        kind: number % 10 === 0 && call === 1 ? 'busy' : 'accepted',
      }));
      const run = await planRequests(opened.ledger, 40);
      const cuts = cut({ ...moment, executed });
      const begun = performance.now();
      const { end } = await executeIn(engine, run, service);
      expect(end.kind).toBe('finished');
      expect(performance.now() - begun, 'no lease is waited for').toBeLessThan(leaseSeconds * 1_000);
      expect(cuts()).toBe(1);
      await expectAllSentOnce(opened.ledger, run, service, 40);
    },
  );
});

describe('the connection is lost when a run is paused', () => {
  test.each(when)('%s: the run is paused, and the rest is sent once later', async (_, executed) => {
    const stop = new AbortController();
    await using service = await sendPeer(({ number }) => {
      if (number === 10) stop.abort();
      return { kind: 'accepted' };
    });
    const run = await planRequests(opened.ledger, 40);
    const cuts = cut({ statement: /INSERT INTO notifications/, commit: true, executed });
    const { end } = await executeIn(engine, run, service, { stop: stop.signal });
    expect(cuts()).toBe(1);
    const sent = service.accepted().length;
    expect(end).toMatchObject({
      kind: 'drained',
      summary: { state: 'paused', requests: { accepted: sent, planned: 40 - sent } },
    });
    await executeIn(engine, run, service);
    await expectAllSentOnce(opened.ledger, run, service, 40);
  });
});

describe('the connection is lost when requests in doubt are sent again', () => {
  test.each(when)('%s: each request in doubt is sent again once', async (_, executed) => {
    await using service = await sendPeer(({ number, call }) => ({
      kind: number % 10 === 0 && call === 1 ? 'lost' : 'accepted',
    }));
    const run = await planRequests(opened.ledger, 40, { onUnknown: 'resend', resends: 2 });
    const cuts = cut({ statement: /SET state = 'planned', resends/, executed });
    const { end } = await executeIn(engine, run, service);
    expect(cuts()).toBe(1);
    expect(end).toMatchObject({ kind: 'finished', summary: { requests: { accepted: 40 } } });
    expect(service.calls).toHaveLength(44);
  });
});

describe('the connection is lost when a rejected request is divided', () => {
  test.each(when)('%s: no recipient is lost, and none gets the message twice', async (_, executed) => {
    const poison = '+61400000009';
    await using service = await sendPeer(({ recipients }) =>
      recipients.includes(poison) ? { kind: 'rejected', words: 'Bad number' } : { kind: 'accepted' },
    );
    const run = await planRequests(opened.ledger, 40, { onRejected: 'bisect' }, 10);
    const cuts = cut({ statement: /INSERT INTO requests/, commit: true, executed });
    const { end } = await executeIn(engine, run, service);
    expect(cuts()).toBe(1);
    expect(end).toMatchObject({
      kind: 'finished',
      summary: { recipients: { total: 40, accepted: 39, rejected: 1 } },
    });
    const reached = service.accepted().flatMap(({ recipients }) => recipients);
    expect([reached.length, new Set(reached).size]).toEqual([39, 39]);
  });
});
