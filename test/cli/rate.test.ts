import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { sendAtRate } from '../support/rate.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

test('two processes together send no faster than the account may be used', async () => {
  const { arrivals } = await sendAtRate(opened, { processes: 2, perSecond: 50, requests: 150 });
  const seconds = ((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)) / 1_000;
  // At most a tenth of a second's worth comes at once, of the first and of the last.
  expect(seconds).toBeGreaterThanOrEqual((150 - 2 * 5) / 50);
});
