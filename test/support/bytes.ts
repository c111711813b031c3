/**
 * Bytes as a file or a pipe gives them.
 *
 * @param size of each chunk; all at once by default
 */
export async function* bytesOf(
  content: string | Uint8Array,
  size = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer, void, undefined> {
  const bytes = Buffer.from(content);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}
