import { test } from 'vitest';
import { expectRejectedContactsListed } from '../../support/plan-rejected-contacts.ts';

test('of 5,000 rows with bad ones of every kind, each bad one is listed with its line and what is wrong, and the counts add up', async () => {
  await expectRejectedContactsListed(5_000);
});
