import { test } from 'vitest';
import { expectAtomicAtEachStep, expectKilledImportsAtomic } from '../support/kill-imports.ts';

test('an import of 200,000 rows leaves no run or a complete one, at whichever of a hundred moments it is killed', async () => {
  const killedAt = await expectKilledImportsAtomic(
    200_000,
    Array.from({ length: 100 }, (_, index) => (index + 5) / 100),
  );
  for (const [statement, imports] of killedAt) console.log(`${imports} killed at ${statement}`);
});

test('an import of 200,000 rows leaves nothing behind, at whichever table it is killed', async () => {
  await expectAtomicAtEachStep(200_000);
});
