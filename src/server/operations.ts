import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EngineContext } from '../engine/context.ts';
import { databaseProblem, fleetFigures } from '../engine/reporting/operations.ts';
import { addressList } from '../platform/address-list.ts';
import { type ListenAddress, listen } from '../platform/http-server.ts';
import { fleetMetrics } from './fleet-metrics.ts';
import { openBoundedServer, usualLimits } from './http.ts';
import type { ProcessMetrics } from './metrics.ts';
import { shareAnswer, within } from './share-answer.ts';

export type Readiness = { readonly ready: boolean; readonly problems: readonly string[] };

/** What monitoring is told. Neither answer takes longer than a second, nor rejects. */
export type Operations = {
  readonly readiness: () => Promise<Readiness>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
};

/** The database is asked about readiness, and for its figures, no more often than this (milliseconds). */
const readinessKept = 500;
const figuresKept = 5_000;

/** What is not answered by then is taken for away (milliseconds). */
const longestAnswer = 900;

/** @param draining whether the process is to end */
export function openOperations(
  context: EngineContext,
  { registry }: ProcessMetrics,
  draining: () => boolean,
): Operations {
  const { monotonic } = context;
  const problem = shareAnswer(() => databaseProblem(context), readinessKept, monotonic);
  const figures = shareAnswer(() => fleetFigures(context).catch(() => undefined), figuresKept, monotonic);
  const show = fleetMetrics(registry);
  return {
    async readiness() {
      const database = await within(longestAnswer, problem()).catch(() => 'no use of it: no answer');
      const problems = [
        ...(draining() ? ['draining: the process is to end'] : []),
        ...(database === undefined ? [] : [`database: ${database}`]),
      ];
      return { ready: problems.length === 0, problems };
    },
    async metrics() {
      show(await within(longestAnswer, figures()).catch(() => undefined));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

type Refuse = (request: FastifyRequest, reply: FastifyReply) => unknown;

/**
 * `/readyz` and `/metrics`. `/healthz` is for everybody: that it is answered says all that it says.
 *
 * @param refuse answers who may not ask; without it, all may
 */
export function addOperations(server: FastifyInstance, operations: Operations, refuse?: Refuse): void {
  const mayAsk = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (refuse && !isFromHere(request)) void refuse(request, reply);
    else done();
  };
  server.get('/readyz', { onRequest: mayAsk }, async (_request, reply) => {
    const readiness = await operations.readiness();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  server.get('/metrics', { onRequest: mayAsk }, async (_request, reply) => {
    const { contentType, text } = await operations.metrics();
    return reply.header('content-type', contentType).send(text);
  });
}

export const addHealth = (server: FastifyInstance): void => {
  server.get('/healthz', async () => ({ status: 'ok' }));
};

const loopback = addressList(['127.0.0.0/8', '::1/128']);
/** What a proxy on this machine adds to a call from elsewhere. */
const ofProxies = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/**
 * Whether a program of this machine asks for itself. It names this machine, too: a proxy that adds nothing may pass on the
 * name it was called by, and a page of a stranger may have its own name lead here.
 */
function isFromHere({ raw }: FastifyRequest): boolean {
  return (
    loopback.has(raw.socket.remoteAddress ?? '') &&
    namesHere(raw.headers.host ?? '') &&
    !ofProxies.some((name) => raw.headers[name] !== undefined)
  );
}

function namesHere(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || loopback.has(name);
}

export type OperationsServer = { readonly url: string; readonly close: () => Promise<void> };

/**
 * A listener for monitoring alone.
 *
 * @param forAll whether callers from other machines may ask more than `/healthz`
 * @throws InputError when the port cannot be had
 */
export async function startOperations(
  operations: Operations,
  address: ListenAddress,
  forAll: boolean,
): Promise<OperationsServer> {
  const refuse = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.code(404).send({ error: 'not found' });
  const limits = { ...usualLimits, body: 1_024, connections: 100 };
  const { server, close } = openBoundedServer(limits, [], refuse);
  addHealth(server);
  addOperations(server, operations, forAll ? undefined : refuse);
  server.setNotFoundHandler(refuse);
  return { url: await listen(server, address), close };
}
