import { defineConfig, mergeConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

/** Property tests that run with more examples here. */
const properties = [
  ...['billing/billing', 'requests/divide', 'planning/expand', 'limits/reserve'].map(
    (name) => `test/ledger/${name}.test.ts`,
  ),
  ...[
    'reporting/campaign-report',
    'dispatch/fault-mix',
    'plan/plan-equals-run',
    'billing/reconcile',
    'plan/sms-parts',
  ].map((name) => `test/engine/${name}.test.ts`),
];

/** The longer forms of tests: `npm run torture`. */
export default mergeConfig(
  { ...usual, test: { ...usual.test, include: [] } },
  defineConfig({
    test: {
      include: ['test/torture/**/*.torture.ts', ...properties],
      provide: { filesInMemory: false },
      env: { VOLLEY_EXAMPLES_FACTOR: '20' },
      testTimeout: 1_800_000,
      hookTimeout: 600_000,
      // Some tests measure memory.
      fileParallelism: false,
      isolate: true,
    },
  }),
);
