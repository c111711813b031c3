import { globSync, readFileSync } from 'node:fs';
import { defineConfig, mergeConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

/** Tests of random examples and of large data, which have more of them here. */
const larger = globSync('test/**/*.{test,whole}.ts').filter((path) =>
  readFileSync(path, 'utf8').includes('support/examples.ts'),
);

/** The longer forms of tests: `npm run torture`. */
export default mergeConfig(
  { ...usual, test: { ...usual.test, include: [] } },
  defineConfig({
    test: {
      include: ['test/torture/**/*.torture.ts', ...larger],
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
