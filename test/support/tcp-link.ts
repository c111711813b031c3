import { connect, createServer, type Socket } from 'node:net';
import { type Listening, listening } from './listening.ts';

/** An address of this machine that leads to a port, now to this one and then to that. */
export type TcpLink = Listening & {
  /** What is under way is held, in both directions, until it is lost. */
  readonly stall: () => void;
  /** Connections that stand are lost; new ones lead there. */
  readonly moveTo: (port: number) => void;
};

export async function startTcpLink(port: number): Promise<TcpLink> {
  let target = port;
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const disconnect = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', disconnect);
      socket.on('close', disconnect);
    }
    client.pipe(upstream).pipe(client);
  });
  const listener = await listening(server);
  return {
    ...listener,
    stall() {
      for (const [client, upstream] of pairs) {
        client.unpipe();
        upstream.unpipe();
      }
    },
    moveTo(next) {
      target = next;
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
  };
}
