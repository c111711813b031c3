import { beforeAll, test } from 'vitest';
import { scaled } from '../support/examples.ts';
import { waitAfterServerStart } from '../support/slices.ts';
import { testLedger } from '../support/test-ledger.ts';
import { expectPromisesKept } from './model/property.ts';

const opened = testLedger();
beforeAll(async () => {
  await waitAfterServerStart(opened.ledger);
});

/** `VOLLEY_MODEL_RUNS=500` sets any length. */
const runs = Number(process.env['VOLLEY_MODEL_RUNS'] ?? scaled(8, 1_000));

test('whatever workers, answers and operators do, in any order, every rule of the ledger holds', async () => {
  await expectPromisesKept(opened.ledger, runs);
});
