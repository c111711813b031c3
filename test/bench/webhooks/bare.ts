import { fastify } from 'fastify';

/** Parses the same body, keeps nothing and prints its port. */
const server = fastify();
server.post('/webhook/bench/:token', async (request) => {
  if (typeof request.body !== 'object' || request.body === null) throw new Error('no report');
  return { status: 'stored' };
});
await server.listen({ host: '127.0.0.1', port: 0 });
const address = server.server.address();
process.stderr.write(`listens on http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}\n`);
process.once('SIGTERM', () => void server.close());
