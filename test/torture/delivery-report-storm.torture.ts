import { test } from 'vitest';
import { expectStormApplied } from '../support/delivery-report-storm.ts';

const recipients = Number(process.env['VOLLEY_TORTURE_RECIPIENTS'] ?? 160_000);

test(`reports of ${recipients} recipients, shuffled, some twice, in four formats, are each kept once and applied once`, async () => {
  console.log(await expectStormApplied(recipients));
});
