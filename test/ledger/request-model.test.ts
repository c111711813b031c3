import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { outwaitStart } from '../support/slices.ts';
import { promisesAreKept } from './model/property.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
  await outwaitStart(opened.ledger);
});
afterAll(() => opened.close());

/** A longer form: `VOLLEY_MODEL_RUNS=5000`. */
const numRuns = Number(process.env['VOLLEY_MODEL_RUNS'] ?? 40);

test('whatever happens to workers, answers and operators, in whatever order, every rule of the ledger holds', async () => {
  await fc.assert(promisesAreKept(opened.ledger), { numRuns, endOnFailure: true, unbiased: true });
}, 600_000);
