/** Concatenates the first batches into one of at least `rows` rows. The others stay as they are. */
export async function* concatenateFirstBatches<Row>(
  batches: AsyncIterable<readonly Row[]>,
  rows: number,
): AsyncGenerator<readonly Row[], void, undefined> {
  let first: Row[] | undefined = [];
  for await (const batch of batches) {
    if (!first) {
      yield batch;
      continue;
    }
    first = first.concat(batch);
    if (first.length < rows) continue;
    yield first;
    first = undefined;
  }
  if (first) yield first;
}
