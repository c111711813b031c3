import { defineConfig, mergeConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

/** The longer forms of tests: `npm run torture`. */
export default mergeConfig(
  { ...usual, test: { ...usual.test, include: [] } },
  defineConfig({
    test: {
      include: ['test/torture/**/*.torture.ts'],
      testTimeout: 1_800_000,
      // One after the other: some measure memory.
      fileParallelism: false,
      isolate: true,
    },
  }),
);
