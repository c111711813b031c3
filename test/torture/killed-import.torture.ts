import { test } from 'vitest';
import { expectAtomicAtEachStep, expectKilledImportsAtomic } from '../support/kill-imports.ts';

test('an import of 200,000 rows that is killed at a hundred moments leaves no run or a whole one each time', async () => {
  const killedAt = await expectKilledImportsAtomic(
    200_000,
    Array.from({ length: 100 }, (_, index) => (index + 5) / 100),
  );
  for (const [statement, imports] of killedAt) console.log(`${imports} killed at ${statement}`);
});

test('an import of 200,000 rows that is killed when it comes to any table leaves nothing of itself', async () => {
  await expectAtomicAtEachStep(200_000);
});
