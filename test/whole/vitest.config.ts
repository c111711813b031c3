import { availableParallelism } from 'node:os';
import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import usual from '../../vitest.config.ts';

/** Longest first, so that none of these is left over at the end; measured on two cores. */
const longest = [
  'cli/killed-dispatch',
  'docs/walkthrough',
  'dashboard/billing/billing-pages',
  'dashboard/base/live',
  'dashboard/run/outages',
  'engine/dispatch/postgres-cut',
  'whole/install',
  'dashboard/every-page',
  'dashboard/run/run-page',
  'regular-expressions',
  'cli/demo',
  'cli/repeated-runs',
];

/** The others are sorted as Vitest does, which knows their times after a first run. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number =>
      longest.findIndex((name) => moduleId.endsWith(`/${name}.whole.ts`)) + 1 || longest.length + 1;
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

/**
 * The tests that `npm test` leaves out, because they take long: commands that plan and send whole campaigns, Volley
 * installed, in a browser, as processes that are killed or lose their database, every command of the documents typed,
 * and long random histories. CI runs both.
 */
export default mergeConfig(
  { ...usual, test: { ...usual.test, include: [] } },
  defineConfig({
    test: {
      include: ['test/**/*.whole.ts'],
      // They wait for processes, leases and browsers more than those of `npm test`.
      maxWorkers: Math.max(4, availableParallelism()),
      testTimeout: 600_000,
      hookTimeout: 600_000,
      sequence: { sequencer: LongestFirst },
    },
  }),
);
