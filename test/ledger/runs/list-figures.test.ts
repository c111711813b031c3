import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { readListFigures } from '../../../src/ledger/runs/list-figures.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { releaseSettledSlices } from '../../support/claims.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

test('the cost of a run is unknown until something of it is booked', async () => {
  const { pool } = opened.ledger;
  const world = await createWorld(opened.ledger, '2026-11-30T10:59:00Z');
  const rates = { currency: 'NZD', tariffs: [[{ price: '0.08', tax: null, from: null, until: null }]] };
  await performNextStep(world, {
    kind: 'plan',
    channel: 'sms',
    payers: [{}],
    contacts: 1,
    chunkSize: 1,
    rates,
  });
  await performNextStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  const [run = ''] = world.runs;
  const costOf = async () => (await readListFigures(pool, [run])).get(run)?.cost;
  expect(await costOf()).toBeNull();
  await releaseSettledSlices(pool, run);
  while (await bookPending(pool));
  expect(await costOf()).toEqual({ price: '0', estimated: '0.16' });
});
