import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ArrivingBodies } from './arriving-bodies.ts';

export type Connections = {
  readonly closeIdle: () => void;
};

/**
 * Beyond the limit, a new connection replaces the one that has been idle longest; if none is idle, the one whose body has
 * been arriving longest; otherwise the new one is closed. With `server.maxConnections`, a caller could lock out all others.
 */
export function limitConnections(
  maxConnections: number,
  server: Server,
  { cutOffLongest }: Pick<ArrivingBodies, 'cutOffLongest'>,
): Connections {
  const all = new Set<Socket>();
  /** Longest idle first. */
  const idle = new Set<Socket>();
  const requests = new Map<Socket, number>();

  server.on('connection', (socket: Socket) => {
    const [longestIdle] = idle;
    all.add(socket);
    idle.add(socket);
    socket.once('close', () => {
      all.delete(socket);
      idle.delete(socket);
      requests.delete(socket);
    });
    if (all.size > maxConnections) {
      const replaced = longestIdle ?? cutOffLongest()?.socket ?? socket;
      // Its close event comes later.
      all.delete(replaced);
      idle.delete(replaced);
      replaced.destroy();
    }
  });
  server.on('request', ({ socket }, response) => {
    idle.delete(socket);
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1;
      if (left > 0) requests.set(socket, left);
      else requests.delete(socket);
      if (left === 0 && all.has(socket)) idle.add(socket);
    });
  });

  return {
    closeIdle: () => {
      for (const socket of idle) socket.destroy();
    },
  };
}
