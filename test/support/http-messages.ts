import type { Socket } from 'node:net';

/** A request or an answer as it came: what a proxy passes on without having to understand it. */
export type HttpMessage = { readonly header: Buffer; readonly body: Buffer };

/** Reads HTTP messages off a connection, and no byte more than it is asked for. All reject when the connection ends. */
export type MessageReader = {
  /** Whether a message begins, or else the connection ends. */
  readonly hasNext: () => Promise<boolean>;
  /** With the empty line. */
  readonly header: () => Promise<Buffer>;
  /** Its length is what Content-Length says, or nothing. */
  readonly message: () => Promise<HttpMessage>;
};

const emptyLine = '\r\n\r\n';

export function readMessages(socket: Socket): MessageReader {
  let held = Buffer.alloc(0);

  /** Reads on until so many bytes are held, where they can be told yet. */
  const hold = async (wanted: () => number | undefined): Promise<number> => {
    for (;;) {
      const length = wanted();
      if (length !== undefined && held.length >= length) return length;
      const chunk: Buffer | null = socket.read();
      if (chunk) held = Buffer.concat([held, chunk]);
      else if (socket.readableEnded || socket.destroyed) throw new Error('the connection ended');
      else await readableOrEnded(socket);
    }
  };

  const headerLength = (): number | undefined => {
    const end = held.indexOf(emptyLine);
    return end < 0 ? undefined : end + emptyLine.length;
  };

  const message = async (): Promise<HttpMessage> => {
    const length = await hold(headerLength);
    const header = held.subarray(0, length);
    const end = length + Number(/^content-length: *(\d+)/im.exec(header.toString('latin1'))?.[1] ?? 0);
    await hold(() => end);
    const body = held.subarray(length, end);
    held = held.subarray(end);
    return { header, body };
  };

  return {
    hasNext: () =>
      hold(() => 1).then(
        () => true,
        () => false,
      ),
    header: async () => held.subarray(0, await hold(headerLength)),
    message,
  };
}

/** Until there may be something to read, or there never will be. */
function readableOrEnded(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const events = ['readable', 'end', 'close'] as const;
  const onEvent = (): void => {
    for (const event of events) socket.off(event, onEvent);
    resolve();
  };
  for (const event of events) socket.on(event, onEvent);
  return promise;
}
