import { defineConfig, mergeConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

/** The whole product, as people meet it: `npm run test:whole`. CI runs it after `npm test`. */
export default mergeConfig(
  { ...usual, test: { ...usual.test, include: [] } },
  defineConfig({
    test: {
      // `npm test` walks through the first pages only.
      include: ['test/whole/**/*.whole.ts', 'test/docs/walkthrough.test.ts'],
      env: { VOLLEY_EVERY_PAGE: 'true' },
      testTimeout: 600_000,
    },
  }),
);
