import { once } from 'node:events';
import { createServer } from 'node:net';

/** For tests that need the port's number before the server starts. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Error('a listening server has a port');
  return address.port;
}
