import swagger from '@fastify/swagger';
import { fastify } from 'fastify';
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { addAdminRoutes } from './admin-routes.ts';
import { addBillingRoute } from './billing-routes.ts';
import { addReportRoutes } from './report-routes.ts';
import { type Routes, scoped } from './route.ts';
import { addRunControlRoutes } from './run-control-routes.ts';
import { addRunRoutes } from './run-routes.ts';
import { addScheduleRoutes } from './schedule-routes.ts';

export const apiPath = '/api/v1';

const description = `Starts, steers and reports runs of campaigns. Every call needs a token (\`volley token create\`), as
\`Authorization: Bearer volley_…\`: \`read\` for lists, status and reports, \`run\` also to start, pause, resume and cancel,
\`admin\` also to approve and resolve, and for tokens and the audit trail. What is wrong is answered as RFC 9457 says.`;

const openapi = {
  openapi: '3.1.0',
  info: { title: 'Volley', version: '1', description: description.replaceAll('\n', ' ') },
  servers: [{ url: apiPath }],
  components: { securitySchemes: { token: { type: 'http' as const, scheme: 'bearer' } } },
};

/** Adds every route, checked, answered and described by its schemas. */
export async function addRoutes(server: Routes): Promise<void> {
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  await server.register(swagger, {
    openapi: openapi,
    transform: jsonSchemaTransform,
    transformObject: (document) => completeDocument(jsonSchemaTransformObject(document)),
    stripBasePath: true,
  });
  await server.register(
    async (routes: Routes) => {
      addRunRoutes(routes);
      addRunControlRoutes(routes);
      addReportRoutes(routes);
      addBillingRoute(routes);
      addScheduleRoutes(routes);
      addAdminRoutes(routes);
      const { config } = scoped('read');
      routes.get('/openapi.json', { config, schema: { hide: true } }, async (_request, reply) =>
        reply.type('application/json').send(JSON.stringify(server.swagger())),
      );
    },
    { prefix: apiPath },
  );
}

export async function apiDocument(): Promise<object> {
  const server: Routes = fastify().withTypeProvider<ZodTypeProvider>();
  await addRoutes(server);
  await server.ready();
  const document = server.swagger();
  await server.close();
  return document;
}

/** Which headers an answer may have that a program goes by, by its status. */
const responseHeaders: Readonly<Record<string, readonly string[]>> = {
  '401': ['WWW-Authenticate'],
  '403': ['WWW-Authenticate'],
  '409': ['Retry-After'],
  '429': ['Retry-After'],
  '503': ['Retry-After'],
};
const startHeaders = ['Location', 'Idempotent-Replayed'];

const headerDescriptions: Readonly<Record<string, string>> = {
  'WWW-Authenticate': 'What is wrong with the token, or which scope is needed.',
  'Retry-After': 'Seconds after which to try again, where that may help.',
  Location: 'Where the run is.',
  'Idempotent-Replayed': '`true` where the run was started before, with the same key.',
};

/** What schemas do not say: headers of answers, and which bodies may be left out. */
function completeDocument(document: ReturnType<typeof jsonSchemaTransformObject>) {
  const paths = ('openapi' in document && document.paths) || {};
  for (const methods of Object.values(paths))
    for (const operation of [methods?.get, methods?.post]) if (operation) completeOperation(operation);
  return withoutUnused(document);
}

/** As a part of the document has it; what is not named here stays as it is. */
type Operation = {
  readonly operationId?: string;
  readonly requestBody?: object;
  readonly responses?: Readonly<Record<string, object>>;
};

function completeOperation({ operationId, requestBody, responses = {} }: Operation): void {
  if (requestBody && !JSON.stringify(requestBody).includes('"required":['))
    Object.assign(requestBody, { required: false });
  for (const [status, answer] of Object.entries(responses)) {
    const names =
      operationId === 'startRun' && status === '202' ? startHeaders : (responseHeaders[status] ?? []);
    const headers = names.map((name) => [
      name,
      { description: headerDescriptions[name], schema: { type: 'string' } },
    ]);
    if (headers.length > 0) Object.assign(answer, { headers: Object.fromEntries(headers) });
  }
}

/** Schemas that only answers have are described as what is asked for, too. */
function withoutUnused(document: ReturnType<typeof jsonSchemaTransformObject>) {
  const schemas = ('components' in document && document.components?.schemas) || {};
  for (const name of Object.keys(schemas)) if (name.endsWith('Input')) delete schemas[name];
  return document;
}
