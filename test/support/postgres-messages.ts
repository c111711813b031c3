/**
 * The messages of Postgres's wire protocol in one direction of a connection, as far as a proxy has to tell them apart.
 * Each piece of the stream that comes is given; what is whole comes back.
 */
export type PostgresMessage = {
  /** The letter of its kind; empty for the first of a client, which has none. */
  readonly kind: string;
  readonly bytes: Buffer;
  /** What comes after kind and length. */
  readonly body: Buffer;
};

/** @param firstHasNoKind whether this is the client's direction */
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

/** Zero-terminated texts from the beginning of a message's body. */
export function textsIn(body: Buffer, count: number): readonly string[] {
  return body.toString('utf8').split('\0', count);
}
