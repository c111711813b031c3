import { beforeEach, expect, test } from 'vitest';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { closePeriod } from '../../../src/ledger/billing/close.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { createWorld, performStep, type World } from '../../support/billing-world.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
beforeEach(async () => {
  await createWorld(opened.ledger, '2026-01-01T00:00:00Z');
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

/** A fax with a delivery report during sending, at 23:50 on 31 October; a page costs 0.1. */
async function reportedWhileSending(contacts = 1): Promise<World> {
  const world: World = { ledger: opened.ledger, runs: [], now: new Date('2026-10-31T23:50:00Z') };
  const tariff = [{ price: '0.1', tax: null, from: null, until: null }];
  await performStep(world, {
    kind: 'plan',
    channel: 'fax',
    payers: [{}],
    contacts,
    chunkSize: 1,
    rates: { currency: 'NZD', tariffs: [tariff] },
  });
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['lost'] });
  await performStep(world, {
    kind: 'report',
    reports: [{ recipient: 0, outcome: 'delivered', units: '2', price: '0.1' }],
  });
  return world;
}

/** The service answers 503; the next attempt follows 20 minutes later. */
async function sendNextAttempt(world: World): Promise<void> {
  world.now = new Date(world.now.getTime() + 20 * 60_000);
  await performStep(world, { kind: 'retry', run: 0 });
}

test("a reported outcome moves to the day of its request's last attempt", async () => {
  const world = await reportedWhileSending();
  await book();
  await sendNextAttempt(world);
  await book();
  expect(await byDay()).toEqual([['2026-11-01', null, 0, 1, 1, '0.1', '0.2']]);
});

test('a reported outcome that is not booked yet moves to the day of the last attempt', async () => {
  const world = await reportedWhileSending();
  await sendNextAttempt(world);
  await sendNextAttempt(world);
  expect(await byDay()).toEqual([['2026-11-01', null, 0, 1, 1, '0.1', '0.2']]);
  await book();
  expect(await byDay()).toEqual([['2026-11-01', null, 0, 1, 1, '0.1', '0.2']]);
});

const closeOctober = () => {
  const now = new Date('2026-11-01T00:05:00Z');
  return closePeriod(opened.ledger.pool, { period: '2026-10', timeZone: 'UTC', closedBy: 'ann' }, now);
};

test('a reported outcome moves out of a closed month as a correction', async () => {
  const world = await reportedWhileSending();
  await performStep(world, { kind: 'retry', run: 0 });
  await closeOctober();
  const october = [['2026-10-31', null, 0, 1, 1, '0.1', '0.2']];
  expect(await byDay('2026-11-01')).toEqual(october);
  await sendNextAttempt(world);
  await book();
  expect(await byDay()).toEqual([
    ...october,
    ['2026-11-01', '2026-10', 0, -1, -1, '-0.1', '-0.2'],
    ['2026-11-01', null, 0, 1, 1, '0.1', '0.2'],
  ]);
});

/** Like `reportedWhileSending`, with a second request that is claimed before the first has an answer. */
async function claimedOnAfterReport(between: () => Promise<unknown>): Promise<World> {
  const world = await reportedWhileSending(2);
  await between();
  world.now = new Date('2026-11-01T00:10:00Z');
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  await performStep(world, { kind: 'answer', run: 0, ends: ['accepted'] });
  return world;
}

test('a delivery report that arrives before the answer is booked at the send time that the answer reveals', async () => {
  await claimedOnAfterReport(book);
  const lines = [['2026-11-01', null, 2, 0, 1, '0.1', '0.2']];
  expect(await byDay()).toEqual(lines);
  await book();
  expect(await byDay()).toEqual(lines);
});

test('a delivery report becomes a correction when its month closes before the request has an answer', async () => {
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
