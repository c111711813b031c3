import { connect, createServer, type Socket } from 'node:net';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { forwardUnchanged } from './faults.ts';
import { type HttpMessage, type MessageReader, readMessages } from './http-messages.ts';
import { type Listening, listening } from './listening.ts';

/** A request that a fault acts on. */
export type Passage = Pick<Listening, 'refuse' | 'listen'> & {
  /** The engine's end. */
  readonly client: Socket;
  /** With the empty line; the rest stays in the connection. */
  readonly header: () => Promise<Buffer>;
  /** Without forwarding it. */
  readonly request: () => Promise<HttpMessage>;
  /** Returns the service's answer. */
  readonly forward: () => Promise<HttpMessage>;
};

/** Acts on one request. Afterwards the connection, if still open, serves the next one. */
export type Fault = (passage: Passage) => Promise<unknown>;

export type FaultProxy = Listening & {
  readonly url: string;
  /** Bodies of completely read requests. */
  readonly seen: readonly string[];
  readonly connections: () => number;
};

/**
 * A TCP proxy in front of a service.
 *
 * @param service its port on this machine
 * @param next called once per request: when its connection opens, or when its first byte arrives on a kept one
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
    // The engine must classify how a connection ends; mostly the proxy itself ends it.
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
/** A sandbox behind a connection that fails as asked. */
export type FaultyService = AsyncDisposable & {
  readonly url: string;
  /** For the next requests, in order; all later ones are forwarded. */
  readonly failNext: (...faults: readonly Fault[]) => void;
};

export async function startFaultyService(options: SandboxOptions = {}): Promise<FaultyService> {
  await using opening = new AsyncDisposableStack();
  const sandbox = opening.adopt(await startSandbox(options), (it) => it.close());
  const faults: Fault[] = [];
  const proxy = opening.adopt(
    await startFaultProxy(sandbox.port, () => faults.shift() ?? forwardUnchanged),
    (it) => it.stop(),
  );
  const whole = opening.move();
  return {
    url: proxy.url,
    failNext: (...asked) => void faults.push(...asked),
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}
