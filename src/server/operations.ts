import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { nextStepText } from '../domain/next-step.ts';
import type { EngineContext } from '../engine/context.ts';
import { checkDatabase, type DatabaseState, readFleetFigures } from '../engine/reporting/fleet-state.ts';
import { isLoopback, namesThisMachine } from '../platform/address-list.ts';
import { type ListenAddress, listen } from '../platform/http-server.ts';
import { createFleetMetrics } from './fleet-metrics.ts';
import { createHostCheck, parseHost } from './known-hosts.ts';
import { answerUnknownPaths, defaultLimits, openLimitedServer } from './limited-server.ts';
import type { ProcessMetrics } from './metrics.ts';
import { shareAnswer, withTimeout } from './shared-answer.ts';

export type Operations = ReturnType<typeof createOperations>;

/** Milliseconds for which answers of the database are shared. */
const readinessMaxAge = 500;
const figuresMaxAge = 5_000;

/** Milliseconds. */
const answerTimeout = 900;

const noAnswer: DatabaseState = { problem: 'unusable: no answer', warnings: [] };

/** Answers for monitoring. Each takes at most a second and never rejects. */
export function createOperations(
  context: EngineContext,
  { registry }: ProcessMetrics,
  draining: () => boolean,
) {
  const { monotonic } = context;
  const state = shareAnswer(() => checkDatabase(context), readinessMaxAge, monotonic);
  const figures = shareAnswer(
    () => readFleetFigures(context).catch(() => undefined),
    figuresMaxAge,
    monotonic,
  );
  const show = createFleetMetrics(registry);
  return {
    async readiness() {
      const { problem, warnings } = await withTimeout(answerTimeout, state()).catch(() => noAnswer);
      const problems = [
        ...(draining() ? ['draining: the process is about to end'] : []),
        ...(problem === undefined ? [] : [`database: ${problem}`]),
      ];
      // Warnings need a person, but must not stop the receiver.
      return { ready: problems.length === 0, problems, warnings: warnings.map(nextStepText) };
    },
    async metrics(): Promise<{ readonly contentType: string; readonly text: string }> {
      show(await withTimeout(answerTimeout, figures()).catch(() => undefined));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Answers a caller that is not allowed, and then returns true. */
type Refuse = (request: FastifyRequest, reply: FastifyReply) => boolean;

export function addOperations(server: FastifyInstance, operations: Operations, refuse: Refuse): void {
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (!refuse(request, reply)) done();
  };
  server.get('/readyz', { onRequest }, async (_request, reply) => {
    const readiness = await operations.readiness();
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  server.get('/metrics', { onRequest }, async (_request, reply) => {
    const { contentType, text } = await operations.metrics();
    return reply.header('content-type', contentType).send(text);
  });
}

export const addHealth = (server: FastifyInstance): void => {
  server.get('/healthz', async () => ({ status: 'ok' }));
};

/** Headers that a proxy on this machine adds to a call from another machine. */
const proxyHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** Refuses callers on other machines, as if the path did not exist. */
export function refuseOtherMachines(
  notFound: (request: FastifyRequest, reply: FastifyReply) => unknown,
): Refuse {
  return (request, reply) => {
    if (isFromThisMachine(request)) return false;
    void notFound(request, reply);
    return true;
  };
}

/** Its `Host` must name this machine: a proxy can forward another name, and a page's own name can resolve to this machine. */
function isFromThisMachine({ raw }: FastifyRequest): boolean {
  return (
    isLoopback(raw.socket.remoteAddress ?? '') &&
    namesThisMachine(parseHost(raw.headers.host)) &&
    !proxyHeaders.some((name) => raw.headers[name] !== undefined)
  );
}

/** @param names further names of this machine */
function refuseOtherHosts(listening: string, names: readonly string[]): Refuse {
  const isKnown = createHostCheck(listening, names);
  return ({ raw }, reply) => {
    if (isKnown(raw.headers.host)) return false;
    void reply.code(421).send({ error: 'this listener has another name; --metrics-name adds one' });
    return true;
  };
}

/**
 * @param callers `this machine`: other machines get only `/healthz`; otherwise the names of this machine
 * @throws InputError when the port is not available
 */
export async function startOperations(
  operations: Operations,
  address: ListenAddress,
  callers: 'this machine' | readonly string[],
) {
  const notFound = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.code(404).send({ error: 'not found' });
  const limits = { ...defaultLimits, body: 1_024, connections: 100, bodies: 20 };
  const { server, close } = openLimitedServer(limits, [], notFound);
  addHealth(server);
  const refuse =
    callers === 'this machine' ? refuseOtherMachines(notFound) : refuseOtherHosts(address.host, callers);
  addOperations(server, operations, refuse);
  answerUnknownPaths(server, notFound);
  return { url: await listen(server, address), close };
}
