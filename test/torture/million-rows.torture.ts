import { expect, test } from 'vitest';
import { expectBadRowsListed } from '../support/plan-bad-rows.ts';

test('of 1,000,000 rows with 3 % bad ones, each bad one is listed with its line, in 256 MiB', async () => {
  const peakBytes = await expectBadRowsListed(1_000_000);
  console.log(`peak: ${Math.round(peakBytes / 1024 / 1024)} MiB`);
  expect(peakBytes).toBeLessThan(256 * 1024 * 1024);
});
