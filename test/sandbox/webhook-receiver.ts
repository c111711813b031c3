import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { DeliveryReportCall } from '../../src/wire/delivery-report-call.ts';

export type WebhookReceiver = AsyncDisposable & {
  readonly url: string;
  /** In order of arrival. */
  readonly calls: readonly DeliveryReportCall[];
  readonly bodies: readonly Buffer[];
  readonly contentTypes: readonly (string | undefined)[];
  readonly authorizations: readonly (string | undefined)[];
  readonly headers: readonly IncomingHttpHeaders[];
};

/** @param answer acknowledges every call by default */
export async function webhookReceiver(
  answer: (response: ServerResponse) => void = (response) => response.end(),
): Promise<WebhookReceiver> {
  const calls: DeliveryReportCall[] = [];
  const bodies: Buffer[] = [];
  const contentTypes: (string | undefined)[] = [];
  const authorizations: (string | undefined)[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const contentType = request.headers['content-type'];
    const query = request.url?.split('?').slice(1).join('?') ?? '';
    calls.push(
      request.method === 'GET'
        ? { method: 'GET', contentType: '', body: Buffer.from(query) }
        : { method: 'POST', contentType: contentType ?? '', body },
    );
    bodies.push(body);
    contentTypes.push(contentType);
    authorizations.push(request.headers.authorization);
    headers.push(request.headers);
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    calls,
    bodies,
    contentTypes,
    authorizations,
    headers,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
