import { test } from 'vitest';
import { expectAtomicAtEachStep, expectKilledImportsAtomic } from '../support/kill-imports.ts';

test.concurrent('an import that is killed leaves no run or a whole one, and a second try gives what the first would have', {
  timeout: 120_000,
}, async () => {
  // A hundred moments of 200,000 rows are in test/torture/killed-import.torture.ts, and every table.
  await expectKilledImportsAtomic(8_000, [0.6, 0.8, 1]);
});

test.concurrent('wherever an import is killed, nothing of it is left before its commit, and all of it once that has begun', {
  timeout: 120_000,
}, async () => {
  await expectAtomicAtEachStep(4_000, ['contact_file_pieces', 'contents']);
});
