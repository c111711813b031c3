import { setTimeout as sleep } from 'node:timers/promises';
import type { OutageRetry } from './outage-retry.ts';

export type PeriodicTask = {
  readonly interval: number;
  readonly task: () => Promise<unknown>;
  readonly isQuery?: boolean;
};

/**
 * One at a time each, until the signal. Resolves when none is under way.
 *
 * @throws Error the first that a task rejects with, other than that the ledger is away
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
