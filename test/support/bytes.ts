/**
 * Bytes in chunks, as a file or pipe delivers them.
 *
 * @param size size of each chunk; default: one chunk
 */
export async function* bytesOf(
  content: string | Uint8Array,
  size = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, void, undefined> {
  const bytes = Buffer.from(content);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
