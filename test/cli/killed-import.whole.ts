import { test } from 'vitest';
import { expectAtomicAtEachStep, expectKilledImportsAtomic } from '../support/kill-imports.ts';

test.concurrent('a killed import leaves no run or a complete one, and a second import gives the same result', {
  timeout: 120_000,
}, async () => {
  // test/torture/killed-import.torture.ts kills a hundred imports of 200,000 rows.
  await expectKilledImportsAtomic(8_000, [0.8]);
});

test.concurrent('an import that is killed at any point leaves nothing before its commit, and everything after it', {
  timeout: 120_000,
}, async () => {
  await expectAtomicAtEachStep(4_000, ['contact_file_pieces', 'contents']);
});
