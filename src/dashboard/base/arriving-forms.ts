import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Forms of people who have not signed in that may arrive at once. A browser sends one in a moment. */
const maxArriving = 20;

type ArrivingForms = {
  /** The person has signed in: the form may take its time. */
  readonly release: (request: FastifyRequest) => void;
};

/**
 * A form without a session that arrives byte by byte holds a connection, which the API and other pages need too. Beyond
 * the limit, a new form replaces the one that has been arriving longest.
 */
export function limitArrivingForms(server: FastifyInstance): ArrivingForms {
  /** The longest first. */
  const arriving = new Set<FastifyRequest['raw']>();
  const release = ({ raw }: FastifyRequest): void => {
    arriving.delete(raw);
  };
  server.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') return;
    arriving.add(request.raw);
    reply.raw.once('close', () => release(request));
    if (arriving.size <= maxArriving) return;
    for (const form of arriving) if (form.complete) arriving.delete(form);
    const [longest] = arriving;
    if (arriving.size > maxArriving) longest?.destroy();
  });
  server.addHook('preValidation', async (request) => release(request));
  return { release };
}
