import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Long test files that mostly wait for processes or leases. Some measure time or start several processes, so
 * they should not run together, nor last. Longest first, measured on two cores.
 */
const waiting = [
  'docs/walkthrough',
  'cli/killed-dispatch',
  'cli/postgres-lost',
  'cli/demo',
  'engine/dispatch/postgres-cut',
  'engine/dispatch/postgres-lost',
  'cli/plan-file',
  'cli/test-runs',
  'cli/stopped-from-outside',
  'cli/killed-workers',
  'cli/two-engines',
  'platform/embedded-postgres',
  'server/delivery-report-storm',
  'cli/serve',
  'cli/run',
  'cli/tail',
  'cli/killed-import',
  'cli/worker',
  'cli/logs',
  'platform/server-user',
  'cli/stopping',
  'cli/late-commit',
  'cli/run-beside-others',
  'cli/full-disk',
  'engine/dispatch/faults',
  'cli/repeat',
  'engine/plan/plan-equals-run',
];

/** The share of files before which the last of these starts. */
const spread = 0.7;

/** By default, Vitest starts with the largest files if it knows no earlier run. */
export class WaitingSpread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waitingIndex = ({ moduleId }: TestSpecification): number =>
      waiting.findIndex((name) => moduleId.includes(`/test/${name}.`));
    const order = sorted.filter((file) => waitingIndex(file) === -1);
    const step = Math.max(1, Math.floor((sorted.length * spread) / waiting.length));
    const spreadOut = sorted
      .filter((file) => waitingIndex(file) !== -1)
      .toSorted((one, other) => waitingIndex(one) - waitingIndex(other));
    for (const [index, file] of spreadOut.entries()) order.splice(index * step, 0, file);
    return order;
  }
}
