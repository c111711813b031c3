import accepts from '@fastify/accepts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { StartRun } from '../../engine/access/start-by-key.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { CampaignSource } from '../../engine/schedule/start-ticks.ts';
import { type ListenAddress, listen } from '../../platform/http-server.ts';
import type { Logger } from '../../platform/logger.ts';
import { answerUnknownPaths, defaultLimits, openLimitedServer } from '../limited-server.ts';
import type { ApiObserver } from '../metrics.ts';
import { createRefusalCount } from '../refusal-count.ts';
import { addAuthentication } from './authentication.ts';
import { type CallLimits, createCallLimits, type ReportTimes } from './call-limits.ts';
import { addRoutes, apiPath } from './document.ts';
import { createErrorHandler, ProblemError, sendProblem } from './problem.ts';
import type { Routes } from './route.ts';

export { apiPath };

/** A report or a plan can take minutes until its first byte. */
const httpLimits = {
  ...defaultLimits,
  body: 64 * 1024,
  head: 16 * 1024,
  idleTime: 600_000,
  connections: 200,
  bodies: 20,
};

export type ApiTools = {
  readonly campaignSource: CampaignSource;
  readonly startRun: StartRun;
  readonly logger: Logger;
  readonly observer?: ApiObserver;
  /** Refusals a minute after which an address is answered 429. */
  readonly refusals?: number;
};

export type ApiOptions = ListenAddress & {
  /** Undefined: this process answers no API. */
  readonly api: ApiTools | undefined;
  /** A call was cut off while its body arrived. */
  readonly onCutOff?: () => void;
  readonly reportTimes?: ReportTimes;
  /** Adds the pages of the dashboard, with their own authentication. */
  readonly addPages?: ((server: FastifyInstance, limits: CallLimits) => Promise<void>) | undefined;
};

/**
 * The API, and the dashboard beside it.
 *
 * @throws InputError when the port is not available
 */
export async function startApi(
  context: EngineContext,
  { api, addPages, onCutOff, reportTimes, ...address }: ApiOptions,
) {
  const limits = createCallLimits(reportTimes);
  const { server, close } = openLimitedServer(httpLimits, [], refusePath, {
    logger: api?.logger,
    onCutOff,
    exposeHeadRoutes: true,
    rewriteUrl: ({ url = '/' }) => readablePath(url),
  });
  server.removeAllContentTypeParsers();
  if (api) await server.register((part) => addApi(part, context, api, limits), { prefix: apiPath });
  // Its pages are at the root, so it also answers unknown paths.
  await server.register(async (part) => {
    if (addPages) return addPages(part, limits);
    const what = `There is no such path; the API is at ${apiPath}.`;
    return answerUnknownPaths(part, (_request, reply) =>
      sendProblem(reply, new ProblemError(404, 'not found', what)),
    );
  });
  return { url: await listen(server, address), close };
}

function refusePath(_request: FastifyRequest, reply: FastifyReply): void {
  const what = 'The path cannot be read.';
  void sendProblem(reply.header('cache-control', 'no-store'), new ProblemError(400, 'input', what));
}

/** An address of a page that cannot be decoded is taken as it stands, so that a page says that there is none. */
function readablePath(url: string): string {
  const [path = '', ...query] = url.split('?');
  if (path.startsWith(apiPath)) return url;
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}

async function addApi(
  server: FastifyInstance,
  context: EngineContext,
  { campaignSource, startRun, logger, observer, refusals }: ApiTools,
  limits: CallLimits,
): Promise<void> {
  server.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    server.getDefaultJsonParser('error', 'error'),
  );
  await server.register(accepts);
  const tools = { context, campaignSource, startRun, logger, limits };
  server.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.schema?.operationId ?? 'none';
    observer?.(operation, reply.statusCode);
    logger.debug({ call: request.id, operation, status: reply.statusCode }, 'API call answered');
  });
  addAuthentication(server, tools, await createRefusalCount(server, refusals));
  // A route whose body has only defaults accepts a call without one.
  server.addHook('preValidation', async (request) => {
    request.body ??= {};
  });
  server.setErrorHandler(createErrorHandler(logger));
  answerUnknownPaths(server, (request, reply) => {
    const what = `There is no ${request.method} of this path; GET ${apiPath}/openapi.json lists all operations.`;
    return sendProblem(reply, new ProblemError(404, 'not found', what));
  });
  const routes: Routes = server.withTypeProvider<ZodTypeProvider>();
  await addRoutes(routes);
}
