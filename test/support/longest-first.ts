import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long, and most of it wait: for processes, for heartbeats, for what is stopped. Others compute meanwhile, so
 * that these must not be the last. Longest first, as measured on two cores.
 */
const waiting = [
  'cli/killed-dispatch',
  'cli/postgres-lost',
  'docs/walkthrough',
  'cli/demo',
  'engine/postgres-cut',
  'engine/postgres-lost',
  'cli/stopped-from-outside',
  'cli/killed-workers',
  'cli/two-engines',
  'platform/embedded-postgres',
  'server/report-storm',
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
  'engine/faults',
  'cli/repeat',
  'engine/plan-equals-run',
];

/** Vitest itself begins with the largest files, where it knows nothing of an earlier run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = waiting.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return found === -1 ? waiting.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
