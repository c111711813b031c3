type Waiting<Item, Result> = {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

type CoalesceOptions = {
  readonly maxBatch: number;
  /** After a commit of so many items, the next one waits for more. */
  readonly busyThreshold: number;
};

/** Milliseconds. */
const maxBusyWait = 4;

/**
 * Lets calls share a commit: items that arrive during a commit go into the next. A commit takes half a millisecond of
 * processor time however small it is, so a busy moment waits for more items; a quiet one does not.
 *
 * @param commit returns one result for each item, in order. A failure fails all its items
 */
export function coalesce<Item, Result>(
  commit: (items: readonly Item[]) => Promise<readonly Result[]>,
  { maxBatch, busyThreshold }: CoalesceOptions,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let committing = false;
  let lastBatchSize = 0;
  let wake: (() => void) | undefined;

  /** Waits until as many wait as the last commit had. */
  async function waitForMore(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, maxBusyWait);
    wake = resolve;
    await promise;
    wake = undefined;
    clearTimeout(timer);
  }

  async function commitAll(): Promise<void> {
    committing = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxBatch);
      try {
        const results = await commit(batch.map(({ item }) => item));
        if (results.length !== batch.length) throw new Error('a commit must return one result for each item');
        for (const [index, result] of results.entries()) batch[index]?.resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      lastBatchSize = batch.length;
      if (lastBatchSize >= busyThreshold && waiting.length < lastBatchSize) await waitForMore();
    }
    committing = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!committing) void commitAll();
      else if (waiting.length >= lastBatchSize) wake?.();
    });
}
