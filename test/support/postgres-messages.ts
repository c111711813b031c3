/**
 * Splits one direction of a Postgres connection into protocol messages. The parser takes pieces of the stream,
 * and returns complete messages.
 */
export type PostgresMessage = {
  /** A letter; empty for a client's first message. */
  readonly kind: string;
  readonly bytes: Buffer;
  /** Without kind and length. */
  readonly body: Buffer;
};

/** @param firstHasNoKind true for the client's direction */
export function createMessageParser(firstHasNoKind: boolean): (piece: Buffer) => readonly PostgresMessage[] {
  let rest: Buffer = Buffer.alloc(0);
  let bare = firstHasNoKind;
  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    const messages: PostgresMessage[] = [];
    for (;;) {
      const header = bare ? 4 : 5;
      if (rest.length < header) return messages;
      const length = rest.readInt32BE(header - 4) + header - 4;
      if (rest.length < length) return messages;
      const bytes = rest.subarray(0, length);
      const kind = bare ? '' : String.fromCharCode(bytes[0] ?? 0);
      messages.push({ kind, bytes, body: bytes.subarray(header) });
      rest = rest.subarray(length);
      bare = false;
    }
  };
}

/** Reads zero-terminated texts. */
export function textsIn(body: Buffer, count: number): readonly string[] {
  return body.toString('utf8').split('\0', count);
}
