import { test } from 'vitest';
import { expectBadRowsListed } from '../../support/plan-bad-rows.ts';

test('of 5,000 rows with bad ones of every kind, each bad one is listed with its line and what is wrong, and the counts add up', async () => {
  await expectBadRowsListed(5_000);
});
