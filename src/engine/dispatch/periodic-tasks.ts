import { setTimeout as sleep } from 'node:timers/promises';
import type { OutageRetry } from './outage-retry.ts';

export type PeriodicTask = {
  readonly interval: number;
  readonly task: () => Promise<unknown>;
  /** As `OutageRetry.query`. */
  readonly isQuery?: boolean;
};

/**
 * Resolves when the signal has aborted and no task is running.
 *
 * @throws Error the first failure of a task, other than an outage
 */
export async function runPeriodicTasks(
  tasks: readonly PeriodicTask[],
  { retry, query }: OutageRetry,
  end: AbortSignal,
): Promise<void> {
  await Promise.all(
    tasks.map(async ({ interval, task, isQuery }) => {
      while (!end.aborted) {
        await (isQuery ? query(task) : retry(task));
        await sleep(interval, undefined, { signal: end }).catch(() => undefined);
      }
    }),
  );
}
