import { afterAll, beforeAll, test } from 'vitest';
import { expectPromisesKept } from '../ledger/model/property.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { waitAfterServerStart } from '../support/slices.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
  await waitAfterServerStart(opened.ledger);
});
afterAll(() => opened.close());

test('every rule of the ledger holds in a thousand histories of workers, answers and operators', async () => {
  await expectPromisesKept(opened.ledger, Number(process.env['VOLLEY_MODEL_RUNS'] ?? 1_000));
});
