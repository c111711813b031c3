import { connect, createServer, type Socket } from 'node:net';
import { type Listening, listening } from './listening.ts';

/** A local address that forwards to a changeable port. */
export type TcpLink = Listening & {
  /** Holds all data in both directions until the connections close. */
  readonly stall: () => void;
  /** Closes connections; new ones go to this port. */
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
