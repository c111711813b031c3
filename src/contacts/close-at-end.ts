/**
 * Calls `close` when the items end or fail, and when the caller stops. A generator that has not started does not run
 * its `finally`, so `close` is called here.
 */
export function closeAtEnd<Item>(
  items: AsyncGenerator<Item, void, undefined>,
  close: () => Promise<void>,
): AsyncIterable<Item> {
  const end = async (): Promise<IteratorResult<Item, void>> => {
    await items.return();
    await close();
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        try {
          const item = await items.next();
          if (item.done) await close();
          return item;
        } catch (error) {
          await close();
          throw error;
        }
      },
      return: end,
    }),
  };
}
