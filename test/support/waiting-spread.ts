import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long, and most of it wait: for processes, for heartbeats, for what is stopped. Some of them measure how long
 * something takes, or start several processes, so they must not come together; and none should be the last, when nobody else
 * computes meanwhile. Longest first, as measured on two cores.
 */
const waiting = [
  'cli/killed-dispatch',
  'cli/postgres-lost',
  'docs/walkthrough',
  'cli/demo',
  'engine/dispatch/postgres-cut',
  'engine/dispatch/postgres-lost',
  'cli/stopped-from-outside',
  'cli/killed-workers',
  'cli/two-engines',
  'platform/embedded-postgres',
  'server/delivery-report-storm',
  'cli/serve',
  'cli/run',
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

/** The share of all files in which the last of them has begun. */
const spread = 0.7;

/** Vitest itself begins with the largest files, where it knows nothing of an earlier run. */
export class WaitingSpread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waitingIndex = ({ moduleId }: TestSpecification): number =>
      waiting.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    const order = sorted.filter((file) => waitingIndex(file) === -1);
    const step = Math.max(1, Math.floor((sorted.length * spread) / waiting.length));
    const spreadOut = sorted
      .filter((file) => waitingIndex(file) !== -1)
      .toSorted((one, other) => waitingIndex(one) - waitingIndex(other));
    for (const [index, file] of spreadOut.entries()) order.splice(index * step, 0, file);
    return order;
  }
}
