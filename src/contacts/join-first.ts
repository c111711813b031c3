/** Puts the first batches together into one of at least so many rows; the others stay as they are. */
export async function* joinFirst<Row>(
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
