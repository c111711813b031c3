import { expect, test } from 'vitest';
import { expectStormApplied } from '../support/report-storm.ts';

test('reports that come shuffled, twice and in four formats while Postgres is killed are each kept once and applied once', async () => {
  const { reports } = await expectStormApplied(3_000);
  expect(reports).toBeGreaterThan(3_600);
}, 120_000);
