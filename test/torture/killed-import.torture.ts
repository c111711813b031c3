import { test } from 'vitest';
import { expectAtomicAtEachStep } from '../support/kill-imports.ts';

test('an import of 200,000 rows leaves nothing behind, at whichever table it is killed', async () => {
  await expectAtomicAtEachStep(200_000);
});
