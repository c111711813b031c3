import accepts from '@fastify/accepts';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { StartRun } from '../../engine/access/start-by-key.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { ScheduleSource } from '../../engine/schedule/start-ticks.ts';
import { type ListenAddress, listen } from '../../platform/http-server.ts';
import type { Logger } from '../../platform/logger.ts';
import { openBoundedServer, usualLimits } from '../http.ts';
import type { ApiObserver } from '../metrics.ts';
import { openRefusalCount } from '../refusal-count.ts';
import { addRoutes, apiPath } from './document.ts';
import { addGate } from './gate.ts';
import { openErrorHandler, ProblemError, sendProblem } from './problem.ts';
import type { Routes } from './route.ts';
import { openCallSlots } from './slots.ts';

export { apiPath };

/** A call is small; a report, and the planning of a run, may take minutes until their first byte. */
const limits = { ...usualLimits, body: 64 * 1024, head: 16 * 1024, idleTime: 600_000, connections: 200 };

export type ApiServer = {
  readonly url: string;
  readonly close: (cutOff?: AbortSignal) => Promise<void>;
};

export type ApiOptions = ListenAddress & {
  readonly place: ScheduleSource;
  readonly startRun: StartRun;
  readonly logger: Logger;
  readonly observer?: ApiObserver;
  /** Of one address in a minute, until it is told to wait. */
  readonly refusals?: number;
};

/**
 * The API on a port of its own: nothing of it is answered without a token.
 *
 * @throws InputError when the port cannot be had
 */
export async function startApi(
  context: EngineContext,
  { place, startRun, logger, observer, refusals, ...address }: ApiOptions,
): Promise<ApiServer> {
  const { server, close } = openBoundedServer(limits, [], (_request, reply) => {
    const what = 'The path cannot be read.';
    void sendProblem(reply.header('cache-control', 'no-store'), new ProblemError(400, 'input', what));
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    server.getDefaultJsonParser('error', 'error'),
  );
  await server.register(accepts);
  const tools = { context, place, startRun, logger, slots: openCallSlots() };
  server.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.schema?.operationId ?? 'none';
    observer?.(operation, reply.statusCode);
    logger.debug({ call: request.id, operation, status: reply.statusCode }, 'a call of the API is answered');
  });
  addGate(server, tools, await openRefusalCount(server, refusals));
  // What needs no body may come without one.
  server.addHook('preValidation', async (request) => {
    request.body ??= {};
  });
  server.setErrorHandler(openErrorHandler(logger));
  server.setNotFoundHandler((request, reply) => {
    const what = `There is no ${request.method} of this path; GET /api/v1/openapi.json has all there are.`;
    return sendProblem(reply, new ProblemError(404, 'not found', what));
  });
  const routes: Routes = server.withTypeProvider<ZodTypeProvider>();
  await addRoutes(routes);
  return { url: await listen(server, address), close };
}
