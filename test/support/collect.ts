export async function collect<Item>(source: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of source) items.push(item);
  return items;
}

export async function collectBatches<Item>(source: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  return (await collect(source)).flat();
}
