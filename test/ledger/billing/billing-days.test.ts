import { beforeEach, expect, test } from 'vitest';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import {
  type BillingDimension,
  type BillingQuery,
  reportBilling,
  sumBilling,
} from '../../../src/ledger/billing/report.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { createWorld, performStep } from '../../support/billing-world.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
beforeEach(async () => {
  await createWorld(opened.ledger, '2026-01-01T00:00:00Z');
});

const timeZone = 'Pacific/Auckland';

/** A run with one SMS sent at that time. */
async function sendAt(time: string): Promise<void> {
  const world = { ledger: opened.ledger, runs: [], now: new Date(time) };
  await performStep(world, {
    kind: 'plan',
    channel: 'sms',
    payers: [{}],
    contacts: 1,
    chunkSize: 1,
    rates: null,
  });
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
}

const linesBy = async (by: readonly BillingDimension[], query: Partial<BillingQuery> = {}) => {
  const { lines } = await inTransaction(opened.ledger.pool, (client) =>
    reportBilling(client, { ...allBilling, timeZone, by, ...query }),
  );
  return lines.map(({ values, accepted }) => [...values, accepted]);
};

// New Zealand: UTC+13 in summer, UTC+12 in winter; the changes are at 3:00 and 2:00.
test.each([
  [
    'the day before daylight saving begins',
    '2026-09-26',
    '2026-09-26T11:59:59Z',
    '2026-09-26T12:00:01Z',
    '2026-09-27',
  ],
  [
    'the day it begins, an hour shorter',
    '2026-09-27',
    '2026-09-27T10:59:59Z',
    '2026-09-27T11:00:01Z',
    '2026-09-28',
  ],
  ['the day before it ends', '2027-04-03', '2027-04-03T10:59:59Z', '2027-04-03T11:00:01Z', '2027-04-04'],
  [
    'the day it ends, an hour longer',
    '2027-04-04',
    '2027-04-04T11:59:59Z',
    '2027-04-04T12:00:01Z',
    '2027-04-05',
  ],
])(
  'requests sent a second before and after the end of %s are billed to the right days',
  async (_, day, before, after, next) => {
    await sendAt(before);
    await sendAt(after);
    const expected = [
      [day, 1],
      [next, 1],
    ];
    expect(await linesBy(['day'])).toEqual(expected);
    expect(await linesBy(['day'], { from: `${day}T00:00`, until: `${next}T00:00` })).toEqual([[day, 1]]);
    while (await bookPending(opened.ledger.pool));
    expect(await linesBy(['day'])).toEqual(expected);
    expect(await linesBy(['day'], { from: `${next}T00:00` })).toEqual([[next, 1]]);
  },
);

test('requests sent a second before and after the end of a month are billed to the right months', async () => {
  await sendAt('2026-09-30T10:59:59Z');
  await sendAt('2026-09-30T11:00:01Z');
  expect(await linesBy(['month'])).toEqual([
    ['2026-09', 1],
    ['2026-10', 1],
  ]);
  expect(await linesBy(['month'], { timeZone: 'UTC' })).toEqual([['2026-09', 2]]);
});

test('requests of one block that are sent before and after midnight are billed to the right days', async () => {
  const world = { ledger: opened.ledger, runs: [], now: new Date('2026-09-26T11:59:59Z') };
  await performStep(world, {
    kind: 'plan',
    channel: 'sms',
    payers: [{}],
    contacts: 5,
    chunkSize: 1,
    rates: null,
  });
  await performStep(world, { kind: 'send', run: 0, requests: 2, ends: ['accepted', 'accepted'] });
  world.now = new Date('2026-09-26T12:00:01Z');
  await performStep(world, { kind: 'send', run: 0, requests: 3, ends: ['accepted', 'accepted', 'accepted'] });
  const expected = [
    ['2026-09-26', 2],
    ['2026-09-27', 3],
  ];
  expect(await linesBy(['day'])).toEqual(expected);
  while (await bookPending(opened.ledger.pool));
  expect(await linesBy(['day'])).toEqual(expected);
});

test('a slice whose requests are sent more than 24 days apart finishes and is booked, although 32 bits of milliseconds overflow', async () => {
  const world = { ledger: opened.ledger, runs: [], now: new Date('2026-08-20T00:00:00Z') };
  await performStep(world, {
    kind: 'plan',
    channel: 'sms',
    payers: [{}],
    contacts: 2,
    chunkSize: 1,
    rates: null,
  });
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  world.now = new Date('2026-09-26T00:00:00Z');
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  while (await bookPending(opened.ledger.pool));
  expect(await linesBy(['month'])).toEqual([
    ['2026-08', 1],
    ['2026-09', 1],
  ]);
});

test('in time zones with an offset of quarter hours, days end at local midnight', async () => {
  // Chatham Islands: UTC+12:45.
  await sendAt('2026-06-10T11:14:59Z');
  await sendAt('2026-06-10T11:15:00Z');
  expect(await linesBy(['day'], { timeZone: 'Pacific/Chatham' })).toEqual([
    ['2026-06-10', 1],
    ['2026-06-11', 1],
  ]);
});

test('lines by each of several dimensions are read at once, and are those of a report by each of them', async () => {
  for (const time of ['2026-09-26T11:59:59Z', '2026-09-26T12:00:01Z', '2026-09-26T12:00:02Z'])
    await sendAt(time);
  const query = { ...allBilling, timeZone, until: '2026-10-01' };
  const dimensions = ['day', 'SubAccount', 'run'] as const;
  const read = async (filter: BillingQuery['filter']) =>
    inTransaction(opened.ledger.pool, (client) => sumBilling(client, { ...query, filter }, dimensions));
  const [days = [], payers = [], runs = []] = await read({});
  expect(days.map(({ values: [day], recipients }) => [day, recipients])).toEqual([
    ['2026-09-26', 1],
    ['2026-09-27', 2],
  ]);
  expect(payers.map(({ values, recipients }) => [values, recipients])).toEqual([[[null], 3]]);
  expect(runs.map(({ recipients }) => recipients)).toEqual([1, 1, 1]);
  while (await bookPending(opened.ledger.pool));
  expect(await read({})).toEqual([days, payers, runs]);
  expect(await read({ SubAccount: ['North'] })).toEqual([[], [], []]);
});
