import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export type Connections = {
  /** Closes those that no request is under way on. */
  readonly closeWaiting: () => void;
};

/**
 * Keeps a server's connections to a number. At that number a new one takes the place of the one that has waited longest
 * without a request under way, whether it has sent nothing, half a head, or a request before; only where a request is
 * under way on each is the new one closed. `server.maxConnections` would close the new one always, and so whoever opens
 * that many and does nothing would lock all others out.
 */
export function keepConnectionsTo(most: number, server: Server): Connections {
  const all = new Set<Socket>();
  /** In the order in which they began to wait. */
  const waiting = new Set<Socket>();
  const requests = new Map<Socket, number>();

  server.on('connection', (socket: Socket) => {
    all.add(socket);
    waiting.add(socket);
    socket.once('close', () => {
      all.delete(socket);
      waiting.delete(socket);
      requests.delete(socket);
    });
    if (all.size > most) {
      const [longest = socket] = waiting;
      // Counted out at once: its event comes later.
      all.delete(longest);
      waiting.delete(longest);
      longest.destroy();
    }
  });
  server.on('request', ({ socket }, response) => {
    waiting.delete(socket);
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1;
      if (left > 0) requests.set(socket, left);
      else requests.delete(socket);
      if (left === 0 && all.has(socket)) waiting.add(socket);
    });
  });

  return {
    closeWaiting: () => {
      for (const socket of waiting) socket.destroy();
    },
  };
}
