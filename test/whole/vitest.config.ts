import { defineConfig, mergeConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

/**
 * The whole product, as people and machines treat it: installed, in a browser, typed page by page, killed, and without
 * its database. `npm run test:whole`; CI runs it after `npm test`.
 */
export default mergeConfig(
  { ...usual, test: { ...usual.test, include: [] } },
  defineConfig({ test: { include: ['test/**/*.whole.ts'], testTimeout: 600_000 } }),
);
