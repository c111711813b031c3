import { defineConfig, mergeConfig } from 'vitest/config';
import usual from '../../vitest.config.ts';

/**
 * The tests that `npm test` leaves out, because they take long: commands that plan and send whole campaigns, Volley
 * installed, in a browser, as processes that are killed or lose their database, every command of the documents typed,
 * and long random histories. CI runs both.
 */
export default mergeConfig(
  { ...usual, test: { ...usual.test, include: [] } },
  defineConfig({ test: { include: ['test/**/*.whole.ts'], testTimeout: 600_000 } }),
);
