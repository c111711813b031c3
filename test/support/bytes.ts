/** @param size of each chunk; by default one chunk */
export async function* bytesOf(
  content: string | Uint8Array,
  size = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, void, undefined> {
  const bytes = Buffer.from(content);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
