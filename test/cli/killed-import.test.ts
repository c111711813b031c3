import { test } from 'vitest';
import { expectKilledImportsWhole, expectNothingLeftOfSteps } from '../support/kill-imports.ts';

test.concurrent('an import that is killed leaves no run or a whole one, and a second try gives what the first would have', {
  timeout: 120_000,
}, async () => {
  await expectKilledImportsWhole(20_000, [0.3, 0.5, 0.7, 0.85, 1]);
});

test.concurrent('wherever an import is killed, nothing of it is left before its commit, and all of it once that has begun', {
  timeout: 120_000,
}, async () => {
  await expectNothingLeftOfSteps(5_000, ['contact_file_pieces', 'chunks']);
});
