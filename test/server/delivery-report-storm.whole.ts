import { expect, test } from 'vitest';
import { expectStormApplied } from '../support/delivery-report-storm.ts';

// test/torture/delivery-report-storm.torture.ts has 160,000 recipients.
test('delivery reports that come shuffled, twice and in four formats while Postgres is killed are each applied once', async () => {
  const { reports } = await expectStormApplied(1_500);
  expect(reports).toBeGreaterThan(1_800);
}, 120_000);
