import { connect, createServer, type Socket } from 'node:net';
import { type HttpMessage, type MessageReader, readMessages } from './http-messages.ts';
import { type Listening, listening } from './listening.ts';

/** A request in the proxy, for a fault to act on. */
export type Passage = Pick<Listening, 'refuse' | 'listen'> & {
  /** The engine's end of its connection. */
  readonly client: Socket;
  /** The request's header with the empty line; the rest stays in the connection. */
  readonly header: () => Promise<Buffer>;
  /** Reads the whole request without passing it on. */
  readonly request: () => Promise<HttpMessage>;
  /** Passes the whole request to the service, and returns its whole answer. */
  readonly forward: () => Promise<HttpMessage>;
};

/** What the proxy does to one request. Afterwards an open connection takes the next one. */
export type Fault = (passage: Passage) => Promise<unknown>;

export type FaultProxy = Listening & {
  readonly url: string;
  /** The bodies of the completely read requests, in order. */
  readonly seen: readonly string[];
  readonly connections: () => number;
};

/**
 * A TCP proxy in front of a service, with a fault for every request.
 *
 * @param service its port on this machine
 * @param next returns the fault of a request, when its connection opens or its first byte comes on a kept one
 */
export async function startFaultProxy(service: number, next: () => Fault): Promise<FaultProxy> {
  const seen: string[] = [];
  let connections = 0;

  const passage = (client: Socket, reader: MessageReader): Passage => {
    const request = async (): Promise<HttpMessage> => {
      const message = await reader.message();
      seen.push(message.body.toString());
      return message;
    };
    const forward = async (): Promise<HttpMessage> => forwardTo(service, await request());
    const { refuse, listen } = listener;
    return { client, header: () => reader.header(), request, forward, refuse, listen };
  };

  const serve = async (client: Socket): Promise<void> => {
    const reader = readMessages(client);
    do {
      await next()(passage(client, reader));
    } while (!client.destroyed && (await reader.hasNext()));
    client.end();
  };

  const server = createServer((client) => {
    connections++;
    client.on('error', () => {});
    // The engine decides about a broken connection; most are the proxy's own doing.
    serve(client).catch(() => client.destroy());
  });
  const listener = await listening(server);
  return { ...listener, url: `http://127.0.0.1:${listener.port}`, seen, connections: () => connections };
}

async function forwardTo(service: number, { header, body }: HttpMessage): Promise<HttpMessage> {
  const upstream = connect(service, '127.0.0.1');
  upstream.on('error', () => {});
  try {
    upstream.write(Buffer.concat([header, body]));
    return await readMessages(upstream).message();
  } finally {
    upstream.destroy();
  }
}
