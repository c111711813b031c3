import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type DeliveryReport, decodeDeliveryReport } from '../../src/wire/delivery-report.ts';
import type { DeliveryReportCall } from '../../src/wire/delivery-report-call.ts';

export type WebhookReceiver = AsyncDisposable & {
  readonly url: string;
  /** In order of arrival. */
  readonly calls: readonly DeliveryReportCall[];
  readonly bodies: readonly Buffer[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** The calls as delivery reports; the test fails if one is none. */
  readonly reports: readonly DeliveryReport[];
};

function reportOf(call: DeliveryReportCall): DeliveryReport {
  const decoded = decodeDeliveryReport(call);
  if (decoded.kind !== 'report') throw new Error(`expected a report, got ${JSON.stringify(decoded)}`);
  return decoded.report;
}

/** @param answer acknowledges every call by default */
export async function webhookReceiver(
  answer: (response: ServerResponse) => void = (response) => response.end(),
): Promise<WebhookReceiver> {
  const calls: DeliveryReportCall[] = [];
  const bodies: Buffer[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const query = request.url?.split('?').slice(1).join('?') ?? '';
    calls.push(
      request.method === 'GET'
        ? { method: 'GET', contentType: '', body: Buffer.from(query) }
        : { method: 'POST', contentType: request.headers['content-type'] ?? '', body },
    );
    bodies.push(body);
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
    headers,
    get reports() {
      return calls.map(reportOf);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
