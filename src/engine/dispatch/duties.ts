import { setTimeout as sleep } from 'node:timers/promises';
import type { Patience } from './patience.ts';

export type Duty = {
  readonly every: number;
  readonly task: () => Promise<unknown>;
  readonly quick?: boolean;
};

/**
 * One at a time each, until the signal. Resolves when none is under way.
 *
 * @throws Error the first that a task rejects with, other than that the ledger is away
 */
export async function keepDuties(
  duties: readonly Duty[],
  { persist, ask }: Patience,
  end: AbortSignal,
): Promise<void> {
  await Promise.all(
    duties.map(async ({ every, task, quick }) => {
      while (!end.aborted) {
        await (quick ? ask(task) : persist(task));
        await sleep(every, undefined, { signal: end }).catch(() => undefined);
      }
    }),
  );
}
