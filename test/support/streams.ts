/** A stream of bytes: of a text, or of chunks as they are. */
export async function* textOf(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
