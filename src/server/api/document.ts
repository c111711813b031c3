import swagger from '@fastify/swagger';
import { fastify } from 'fastify';
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { tokenScopes } from '../../domain/access.ts';
import { scopeWords } from '../../report/lists/tokens.ts';
import { addAdminRoutes } from './admin-routes.ts';
import { addBillingRoute } from './billing-routes.ts';
import { addReportRoutes } from './report-routes.ts';
import type { Routes } from './route.ts';
import { addRunControlRoutes } from './run-control-routes.ts';
import { addRunRoutes } from './run-routes.ts';
import { addScheduleRoutes } from './schedule-routes.ts';

export const apiPath = '/api/v1';

const scopes = tokenScopes.map((scope) => `\`${scope}\` allows ${scopeWords[scope]}.`).join(' ');
const description = `Starts, controls and reports runs of campaigns. A call needs a token (\`volley token create\`), as \`Authorization: Bearer volley_…\`. Its scope decides what it may do. ${scopes} Problems are answered by RFC 9457.`;

const openapi = {
  openapi: '3.1.0',
  info: { title: 'Volley', version: '1', description },
  servers: [{ url: apiPath }],
  components: { securitySchemes: { token: { type: 'http' as const, scheme: 'bearer' } } },
};

/** @param server whose prefix is `apiPath` */
export async function addRoutes(server: Routes): Promise<void> {
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  await server.register(swagger, {
    openapi,
    transform: jsonSchemaTransform,
    transformObject: (document) => completeDocument(jsonSchemaTransformObject(document)),
    stripBasePath: true,
  });
  addRunRoutes(server);
  addRunControlRoutes(server);
  addReportRoutes(server);
  addBillingRoute(server);
  addScheduleRoutes(server);
  addAdminRoutes(server);
  server.get(
    '/openapi.json',
    { config: { scope: 'read' }, schema: { hide: true } },
    async (_request, reply) => reply.type('application/json').send(JSON.stringify(server.swagger())),
  );
}

export async function apiDocument(): Promise<object> {
  const server: Routes = fastify().withTypeProvider<ZodTypeProvider>();
  let document = {};
  await server.register(
    async (routes: Routes) => {
      await addRoutes(routes);
      routes.addHook('onReady', async () => {
        document = routes.swagger();
      });
    },
    { prefix: apiPath },
  );
  await server.ready();
  await server.close();
  return document;
}

const responseHeaders: Readonly<Record<string, readonly string[]>> = {
  '401': ['WWW-Authenticate'],
  '403': ['WWW-Authenticate'],
  '409': ['Retry-After'],
  '429': ['Retry-After'],
  '503': ['Retry-After'],
};
const startHeaders = ['Location', 'Idempotent-Replayed'];

const headerDescriptions: Readonly<Record<string, string>> = {
  'WWW-Authenticate': 'The problem with the token, or the needed scope.',
  'Retry-After': 'Seconds to wait before another try, if that can help.',
  Location: 'The path of the run.',
  'Volley-As-Of':
    'Where there is a replica: the time of the figures, and how old the replica was or why it was not read.',
  'Idempotent-Replayed': '`true` if an earlier call with the same key started the run.',
};

/** Adds what schemas lack: headers of answers, and optional bodies. */
function completeDocument(document: ReturnType<typeof jsonSchemaTransformObject>) {
  const paths = ('openapi' in document && document.paths) || {};
  for (const methods of Object.values(paths))
    for (const operation of [methods?.get, methods?.post]) if (operation) completeOperation(operation);
  const schemas = ('components' in document && document.components?.schemas) || {};
  // Input variants of schemas that only answers use.
  for (const name of Object.keys(schemas)) if (name.endsWith('Input')) delete schemas[name];
  return document;
}

type Operation = {
  readonly operationId?: string;
  readonly requestBody?: object;
  readonly responses?: Readonly<Record<string, object>>;
};

function completeOperation({ operationId, requestBody, responses = {} }: Operation): void {
  if (requestBody && !JSON.stringify(requestBody).includes('"required":['))
    Object.assign(requestBody, { required: false });
  for (const [status, answer] of Object.entries(responses)) {
    const ofOperation = status === '200' && operationId?.startsWith('report') ? ['Volley-As-Of'] : [];
    const names =
      operationId === 'startRun' && status === '202'
        ? startHeaders
        : [...(responseHeaders[status] ?? []), ...ofOperation];
    const headers = names.map((name) => [
      name,
      { description: headerDescriptions[name], schema: { type: 'string' } },
    ]);
    if (headers.length > 0) Object.assign(answer, { headers: Object.fromEntries(headers) });
  }
}
