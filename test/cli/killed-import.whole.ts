import { test } from 'vitest';
import { expectAtomicAtEachStep } from '../support/kill-imports.ts';

test('an import that is killed at any point leaves nothing before its commit, and everything after it, and a second import gives the same run', async () => {
  // test/torture/killed-import.torture.ts kills imports of 200,000 rows at every table.
  await expectAtomicAtEachStep(4_000, ['contact_file_pieces', 'contents']);
});
