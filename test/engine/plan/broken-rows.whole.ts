import { test } from 'vitest';
import { expectRejectedContactsListed } from '../../support/plan-rejected-contacts.ts';

test('every broken row of 5,000 is listed with its line and problem, and the counts add up', async () => {
  await expectRejectedContactsListed(5_000);
});
