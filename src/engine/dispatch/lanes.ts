import pLimit from 'p-limit';
import { createWakeup } from './wakeup.ts';

/** Works items in order, some at once. */
export type Lanes<Item> = {
  readonly add: (items: readonly Item[]) => void;
  readonly waiting: () => number;
  readonly whenIdle: () => Promise<void>;
};

/**
 * A lane works one item after another. p-limit starts lanes, not items: its seven promises for each item took longer
 * than the work.
 *
 * @param work never rejects
 */
export function createLanes<Item>(concurrency: number, work: (item: Item) => Promise<void>): Lanes<Item> {
  const limit = pLimit(concurrency);
  const ended = createWakeup();
  const waiting: Item[] = [];
  let open = 0;

  async function workWaiting(): Promise<void> {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
    open--;
    if (open === 0) ended.signal();
  }

  return {
    add(items) {
      waiting.push(...items);
      for (let wanted = items.length; wanted > 0 && open < concurrency; wanted--) {
        open++;
        void limit(workWaiting);
      }
    },
    waiting: () => waiting.length,
    async whenIdle() {
      while (open > 0) await ended.wait(1_000);
    },
  };
}
