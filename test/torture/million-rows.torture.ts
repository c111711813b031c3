import { expect, test } from 'vitest';
import { expectRejectedContactsListed } from '../support/plan-rejected-contacts.ts';

const mebibyte = 1024 * 1024;

test('a plan of 1,000,000 rows lists each rejected contact with line and reason, in 256 MiB', async () => {
  const { plan, report } = await expectRejectedContactsListed(1_000_000);
  console.log(
    `peak: ${Math.round(plan / mebibyte)} MiB planning, ${Math.round(report / mebibyte)} reporting`,
  );
  expect(plan).toBeLessThanOrEqual(256 * mebibyte);
  expect(report).toBeLessThanOrEqual(256 * mebibyte);
});
