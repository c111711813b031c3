import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { closePeriod } from '../../../src/ledger/billing/close.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { emptyWorld, take, type World } from '../../support/billing-world.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());
beforeEach(async () => {
  await emptyWorld(opened.ledger, '2026-01-01T00:00:00Z');
});

const book = async (): Promise<void> => {
  while (await bookPending(opened.ledger.pool));
};

const byDay = async (until: string | null = null) => {
  const query = { ...allBilling, by: ['day'], until } as const;
  const { lines } = await inTransaction(opened.ledger.pool, (client) => reportBilling(client, query));
  return lines.map(({ values: [day], correctionOf, accepted, unknown, delivered, price, estimated }) =>
    [day, correctionOf, accepted, unknown, delivered, price, estimated].map((value) => value ?? null),
  );
};

/** A fax that is reported on while it is being sent, at 23:50 on the last of October; a page costs 0.1. */
async function reportedWhileSending(contacts = 1): Promise<World> {
  const world: World = { ledger: opened.ledger, runs: [], now: new Date('2026-10-31T23:50:00Z') };
  const tariff = [{ price: '0.1', tax: null, from: null, until: null }];
  await take(world, {
    ...{ kind: 'plan', channel: 'fax', payers: [{}], contacts, chunkSize: 1 },
    rates: { currency: 'NZD', tariffs: [tariff] },
  });
  await take(world, { kind: 'send', run: 0, requests: 1, ends: ['lost'] });
  await take(world, {
    kind: 'report',
    reports: [{ recipient: 0, outcome: 'delivered', units: '2', price: '0.1' }],
  });
  return world;
}

/** The service says 503, and the next attempt is made 20 minutes later. */
async function sendAgain(world: World): Promise<void> {
  world.now = new Date(world.now.getTime() + 20 * 60_000);
  await take(world, { kind: 'retry', run: 0 });
}

test('what was reported of a request goes with it to the day of its last attempt', async () => {
  const world = await reportedWhileSending();
  await book();
  await sendAgain(world);
  await book();
  expect(await byDay()).toEqual([['2026-11-01', null, 0, 1, 1, '0.1', '0.2']]);
});

test('what was reported and is not booked yet goes to the day of the last attempt, too', async () => {
  const world = await reportedWhileSending();
  await sendAgain(world);
  await sendAgain(world);
  expect(await byDay()).toEqual([['2026-11-01', null, 0, 1, 1, '0.1', '0.2']]);
  await book();
  expect(await byDay()).toEqual([['2026-11-01', null, 0, 1, 1, '0.1', '0.2']]);
});

const closeOctober = () => {
  const now = new Date('2026-11-01T00:05:00Z');
  return closePeriod(opened.ledger.pool, { period: '2026-10', timeZone: 'UTC', closedBy: 'ann' }, now);
};

test('what was reported in a month that is closed moves as a correction', async () => {
  const world = await reportedWhileSending();
  await take(world, { kind: 'retry', run: 0 });
  await closeOctober();
  const october = [['2026-10-31', null, 0, 1, 1, '0.1', '0.2']];
  expect(await byDay('2026-11-01')).toEqual(october);
  await sendAgain(world);
  await book();
  expect(await byDay()).toEqual([
    ...october,
    ['2026-11-01', '2026-10', 0, -1, -1, '-0.1', '-0.2'],
    ['2026-11-01', null, 0, 1, 1, '0.1', '0.2'],
  ]);
});

/** As `reportedWhileSending`, of a run that has one more request, which is claimed while the first has no answer yet. */
async function claimedOnAfterReport(between: () => Promise<unknown>): Promise<World> {
  const world = await reportedWhileSending(2);
  await between();
  world.now = new Date('2026-11-01T00:10:00Z');
  await take(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  await take(world, { kind: 'answer', run: 0, ends: ['accepted'] });
  return world;
}

test('what is reported before the answer is booked when the answer says at what time the request was sent', async () => {
  await claimedOnAfterReport(book);
  const lines = [['2026-11-01', null, 2, 0, 1, '0.1', '0.2']];
  expect(await byDay()).toEqual(lines);
  await book();
  expect(await byDay()).toEqual(lines);
});

test('what is reported before the answer, and not answered when the month is closed, is a correction', async () => {
  await claimedOnAfterReport(closeOctober);
  const october = ['2026-10-31', null, 0, 1, 0, '0', '0'];
  expect(await byDay('2026-11-01')).toEqual([october]);
  await book();
  expect(await byDay()).toEqual([
    october,
    ['2026-11-01', '2026-10', 0, -1, 0, '0', '0'],
    ['2026-11-01', null, 2, 0, 1, '0.1', '0.2'],
  ]);
});
