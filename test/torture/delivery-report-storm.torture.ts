import { test } from 'vitest';
import { expectStormApplied } from '../support/delivery-report-storm.ts';

const recipients = Number(process.env['VOLLEY_TORTURE_RECIPIENTS'] ?? 160_000);

test(`shuffled delivery reports of ${recipients} recipients, some twice, in four formats, are each applied once`, async () => {
  console.log(await expectStormApplied(recipients));
});
