import pLimit from 'p-limit';

/** Works items in order, some at once. */
type Lanes<Item> = {
  readonly add: (items: readonly Item[]) => void;
  readonly waiting: () => number;
  /** Resolves when all is done that was added so far. */
  readonly whenIdle: () => Promise<void>;
};

/**
 * p-limit holds how many items are worked at once: it runs lanes, and a lane works one item after another. With a call
 * of p-limit for each item, dispatch took 4 % more processor time.
 *
 * @param work never rejects
 */
export function createLanes<Item>(concurrency: number, work: (item: Item) => Promise<void>): Lanes<Item> {
  const limit = pLimit(concurrency);
  const waiting: Item[] = [];
  let allEnded = Promise.resolve();

  async function workWaiting(): Promise<void> {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  }

  async function startLanes(wanted: number, earlier: Promise<void>): Promise<void> {
    await Promise.all([earlier, ...Array.from({ length: wanted }, () => limit(workWaiting))]);
  }

  return {
    add(items) {
      waiting.push(...items);
      // A lane that has yet to start works what is added later too. As many as can run at once are enough.
      allEnded = startLanes(Math.min(items.length, limit.concurrency - limit.pendingCount), allEnded);
    },
    waiting: () => waiting.length,
    whenIdle: () => allEnded,
  };
}
