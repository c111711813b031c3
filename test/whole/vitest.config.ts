import { availableParallelism } from 'node:os';
import { defineConfig, mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import usual from '../../vitest.config.ts';

/** Those of more than 25 s, longest first, so that none of these is left over at the end; measured on two cores. */
const longest = [
  'whole/install',
  'cli/killed-dispatch',
  'docs/walkthrough',
  'dashboard/base/live',
  'dashboard/every-page',
  'engine/schedule/variants',
  'cli/demo',
  'cli/guard',
  'engine/dispatch/postgres-cut',
  'dashboard/billing/billing-pages',
  'dashboard/run/run-page',
  'dashboard/uploads/lists',
  'dashboard/run/outages',
  'cli/replica',
  'dashboard/plan/large-start',
  'dashboard/billing/many-differences',
  'report/html/preview-page',
  'cli/restored',
  'cli/stopped-from-outside',
  'engine/billing/purge',
  'cli/postgres-lost',
  'dashboard/billing/large-invoices',
  'platform/embedded-postgres',
  'cli/run',
  'cli/killed-import',
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
      // They wait for processes, leases and browsers for more than half of their time.
      maxWorkers: Math.max(6, availableParallelism()),
      testTimeout: 600_000,
      hookTimeout: 600_000,
      sequence: { sequencer: LongestFirst },
    },
  }),
);
