import { test } from 'vitest';
import { expectKilledImportsWhole } from '../support/kill-imports.ts';

test('an import of 200,000 rows that is killed at a hundred moments leaves no run or a whole one each time', async () => {
  await expectKilledImportsWhole(
    200_000,
    Array.from({ length: 100 }, (_, index) => (index + 5) / 100),
  );
});
