import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

export type WebhookReceiver = AsyncDisposable & {
  readonly url: string;
  /** Of the calls so far, each as it came. */
  readonly bodies: readonly Buffer[];
  readonly contentTypes: readonly (string | undefined)[];
};

/** @param answer decides what each call gets; by default, all are taken */
export async function webhookReceiver(
  answer: (response: ServerResponse) => void = (response) => response.end(),
): Promise<WebhookReceiver> {
  const bodies: Buffer[] = [];
  const contentTypes: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await buffer(request));
    contentTypes.push(request.headers['content-type']);
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    bodies,
    contentTypes,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
