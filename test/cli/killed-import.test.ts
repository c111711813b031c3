import { test } from 'vitest';
import { expectKilledImportsWhole } from '../support/kill-imports.ts';

test('an import that is killed leaves no run or a whole one, and a second try gives what the first would have', {
  timeout: 120_000,
}, async () => {
  await expectKilledImportsWhole(40_000, [0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]);
});
