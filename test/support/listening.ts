import { once } from 'node:events';
import type { Server, Socket } from 'node:net';

export type Listening = AsyncDisposable & {
  readonly port: number;
  /** Stops listening; connections stay open. */
  readonly refuse: () => void;
  /** Stops listening, and closes all connections. */
  readonly stop: () => void;
  /** Listens on the same port again. */
  readonly listen: () => Promise<void>;
};

/** Listens on a free local port until the end of the test. */
export async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listen = async (port: number): Promise<void> => {
    if (server.listening) return;
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = (): void => {
    if (server.listening) server.close();
  };
  const stop = (): void => {
    refuse();
    for (const socket of sockets) socket.destroy();
  };
  await listen(0);
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server does not listen');
  const { port } = address;
  return {
    port,
    refuse,
    stop,
    listen: () => listen(port),
    async [Symbol.asyncDispose]() {
      stop();
    },
  };
}
