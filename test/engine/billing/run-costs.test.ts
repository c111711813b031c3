import { expect, test, vi } from 'vitest';
import { createBookedCosts } from '../../../src/engine/billing/run-costs.ts';
import { billingLock } from '../../../src/ledger/billing/book.ts';
import { createWorld, performStep, type World } from '../../support/billing-world.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

/** Four requests of one slice, at 0.10 each. */
async function planFour(): Promise<World> {
  const world = await createWorld(opened.ledger, '2026-11-21T10:00:00Z');
  const rates = { currency: 'NZD', tariffs: [[{ price: '0.05', tax: null, from: null, until: null }]] };
  const payers = [{ SubAccount: 'North' }];
  await performStep(world, { kind: 'plan', channel: 'sms', payers, contacts: 4, chunkSize: 1, rates });
  return world;
}

const sendOne = (world: World) =>
  performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });

test('a page sees what a run has cost within a second, also of a slice that is still sent, and never waits for it', async () => {
  const world = await planFour();
  const [run = ''] = world.runs;
  let time = 0;
  let now = new Date('2026-11-21T10:00:00Z');
  const readCosts = createBookedCosts({ ...opened.context, now: () => now, monotonic: () => time });
  const look = async () => {
    const { total, bySubAccount, asOf } = await readCosts(run, 'running', 10);
    expect(bySubAccount.lines).toEqual(total.recipients === 0 ? [] : [{ value: 'North', ...total }]);
    return { accepted: total.accepted, estimated: Number(total.estimated), asOf };
  };
  await sendOne(world);
  const first = now;
  // The first look waits for 60 ms, which are short on a busy machine.
  await vi.waitFor(async () => expect(await look()).toEqual({ accepted: 1, estimated: 0.1, asOf: first }));

  await sendOne(world);
  time += 900;
  expect(await look()).toEqual({ accepted: 1, estimated: 0.1, asOf: first });

  time += 100;
  now = new Date('2026-11-21T10:00:01Z');
  await look();
  await vi.waitFor(async () => expect(await look()).toEqual({ accepted: 2, estimated: 0.2, asOf: now }));
});

test('a page of a run that has just ended waits for all that it costs', async () => {
  const world = await planFour();
  const [run = ''] = world.runs;
  const readCosts = createBookedCosts({ ...opened.context, monotonic: () => 0 });
  await readCosts(run, 'running', 10);
  await sendOne(world);
  const { currency, total } = await readCosts(run, 'completed', 10);
  expect([currency, total.accepted, Number(total.estimated)]).toEqual(['NZD', 1, 0.1]);
});

test('a run that was never sent costs nothing', async () => {
  const world = await planFour();
  const [run = ''] = world.runs;
  const costs = await createBookedCosts(opened.context)(run, 'planned', 10);
  expect(costs).toMatchObject({
    total: { recipients: 0, price: '0' },
    bySubAccount: { lines: [], others: null },
  });
});

test('pages of many runs that wait for another booking leave connections to the rest of the process', async () => {
  const { hot, pool } = opened.ledger;
  const booking = await hot.connect();
  await booking.query('BEGIN');
  await booking.query('SELECT pg_advisory_xact_lock($1)', [billingLock]);
  const readCosts = createBookedCosts(opened.context);
  const runs = Array.from({ length: 12 }, (_, index) => `run ${index}`);
  const looks = await Promise.all(runs.map((run) => readCosts(run, 'running', 10)));
  expect(looks.map(({ asOf }) => asOf)).toEqual(runs.map(() => undefined));
  try {
    expect(pool.totalCount - pool.idleCount).toBe(1);
  } finally {
    await booking.query('COMMIT');
    booking.release();
  }
  await vi.waitFor(async () => expect((await readCosts('run 11', 'running', 10)).asOf).toBeInstanceOf(Date));
});
