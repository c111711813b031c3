import type { Row } from '../rows.ts';

/** Bytes that are passed between two batches. */
const maxStep = 1_048_576;

/**
 * Reads the bytes of a file beside its rows, so that a reader of both needs no more memory than for a batch.
 *
 * @param bytesSoFar counts the bytes that belong to the rows so far
 * @returns the batches, and empty ones where more bytes follow
 */
export async function* readBytesBesideRows(
  batches: AsyncIterable<readonly Row[]>,
  kept: AsyncIterable<Buffer>,
  bytesSoFar: () => number,
): AsyncGenerator<readonly Row[], void, undefined> {
  const bytes = kept[Symbol.asyncIterator]();
  let passed = 0;
  const isMoreBefore = async (end: number): Promise<boolean> => {
    for (const stop = passed + maxStep; passed < end; ) {
      if (passed >= stop) return true;
      const { done, value } = await bytes.next();
      if (done) return false;
      passed += value.length;
    }
    return false;
  };
  try {
    for await (const batch of batches) {
      yield batch;
      while (await isMoreBefore(bytesSoFar())) yield [];
    }
    while (await isMoreBefore(Number.POSITIVE_INFINITY)) yield [];
  } finally {
    await bytes.return?.();
  }
}
