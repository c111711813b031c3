import type { Socket } from 'node:net';

/** In bytes, for a proxy that does not interpret them. */
export type HttpMessage = { readonly header: Buffer; readonly body: Buffer };

/** Reads HTTP messages, and no byte further. All methods reject when the connection ends. */
export type MessageReader = {
  /** Or else the connection ends. */
  readonly hasNext: () => Promise<boolean>;
  /** With the empty line. */
  readonly header: () => Promise<Buffer>;
  /** Its length is Content-Length, or 0. */
  readonly message: () => Promise<HttpMessage>;
};

const emptyLine = '\r\n\r\n';

export function readMessages(socket: Socket): MessageReader {
  let held = Buffer.alloc(0);

  /** Reads until the wanted number of bytes is known and available. */
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
