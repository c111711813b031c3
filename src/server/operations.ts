import { isIP } from 'node:net';
import { hostname } from 'node:os';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EngineContext } from '../engine/context.ts';
import { checkDatabase, type DatabaseState, readFleetFigures } from '../engine/reporting/fleet-state.ts';
import { createAddressList } from '../platform/address-list.ts';
import { type ListenAddress, listen } from '../platform/http-server.ts';
import { fleetMetrics } from './fleet-metrics.ts';
import { openBoundedServer, usualLimits } from './http.ts';
import type { ProcessMetrics } from './metrics.ts';
import { shareAnswer, within } from './share-answer.ts';

export type Readiness = {
  readonly ready: boolean;
  readonly problems: readonly string[];
  /** What a person has to look at; a process is ready all the same, or one bad report would take the receiver away. */
  readonly warnings: readonly string[];
};

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

const noAnswer: DatabaseState = { problem: 'no use of it: no answer', warnings: [] };

/** @param draining whether the process is to end */
export function openOperations(
  context: EngineContext,
  { registry }: ProcessMetrics,
  draining: () => boolean,
): Operations {
  const { monotonic } = context;
  const state = shareAnswer(() => checkDatabase(context), readinessKept, monotonic);
  const figures = shareAnswer(() => readFleetFigures(context).catch(() => undefined), figuresKept, monotonic);
  const show = fleetMetrics(registry);
  return {
    async readiness() {
      const { problem, warnings } = await within(longestAnswer, state()).catch(() => noAnswer);
      const problems = [
        ...(draining() ? ['draining: the process is to end'] : []),
        ...(problem === undefined ? [] : [`database: ${problem}`]),
      ];
      return { ready: problems.length === 0, problems, warnings };
    },
    async metrics() {
      show(await within(longestAnswer, figures()).catch(() => undefined));
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

/** Answers a caller that may not ask, and says so by returning true. */
type Refuse = (request: FastifyRequest, reply: FastifyReply) => boolean;

/**
 * `/readyz` and `/metrics`. `/healthz` is for every caller: that it is answered says all that it says.
 *
 * @param refuse is asked before each answer
 */
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

const loopback = createAddressList(['127.0.0.0/8', '::1/128']);
/** What a proxy on this machine adds to a call from elsewhere. */
const ofProxies = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'];

/** Refuses every caller that is not a program of this machine, as if there were no such path. */
export function refuseOthers(notFound: (request: FastifyRequest, reply: FastifyReply) => unknown): Refuse {
  return (request, reply) => {
    if (isFromHere(request)) return false;
    void notFound(request, reply);
    return true;
  };
}

/**
 * Whether a program of this machine asks for itself. It names this machine, too: a proxy that adds nothing may pass on the
 * name it was called by, and a page of a stranger may have its own name lead here.
 */
function isFromHere({ raw }: FastifyRequest): boolean {
  return (
    loopback.has(raw.socket.remoteAddress ?? '') &&
    namesHere(hostOf(raw.headers.host)) &&
    !ofProxies.some((name) => raw.headers[name] !== undefined)
  );
}

/** The host of a `Host` header: lower case, an IPv6 address without its brackets. */
function hostOf(header = ''): string {
  return header
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

function namesHere(host: string): boolean {
  return host === 'localhost' || loopback.has(host);
}

/**
 * Refuses callers that name another host: a browser sends the name of the page, so a page whose name was pointed at this
 * listener (DNS rebinding) reads nothing. A page cannot have an address for a name, so every address is taken unless the
 * listener is for this machine alone.
 *
 * @param listening the address that the listener is bound to
 * @param names under which callers on other machines know this one
 */
function refuseOtherHosts(listening: string, names: readonly string[]): Refuse {
  const known = new Set([listening, hostname(), ...names].map((name) => name.toLowerCase()));
  const local = namesHere(listening.toLowerCase());
  return ({ raw }, reply) => {
    const host = hostOf(raw.headers.host);
    if (namesHere(host) || known.has(host) || (!local && isIP(host) !== 0)) return false;
    void reply.code(421).send({ error: 'this listener has another name; --metrics-name allows one more' });
    return true;
  };
}

export type OperationsServer = { readonly url: string; readonly close: () => Promise<void> };

/**
 * A listener for monitoring alone.
 *
 * @param callers `this machine`: other machines are answered `/healthz` alone; or the names under which callers know this one
 * @throws InputError when the port cannot be had
 */
export async function startOperations(
  operations: Operations,
  address: ListenAddress,
  callers: 'this machine' | readonly string[],
): Promise<OperationsServer> {
  const notFound = (_request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    reply.code(404).send({ error: 'not found' });
  const limits = { ...usualLimits, body: 1_024, connections: 100 };
  const { server, close } = openBoundedServer(limits, [], notFound);
  addHealth(server);
  const refuse =
    callers === 'this machine' ? refuseOthers(notFound) : refuseOtherHosts(address.host, callers);
  addOperations(server, operations, refuse);
  server.setNotFoundHandler(notFound);
  return { url: await listen(server, address), close };
}
