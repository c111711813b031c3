import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { OutgoingRequest } from '../../src/domain/message.ts';
import type { Account } from '../../src/gateway/account.ts';
import { type Gateway, openGateway } from '../../src/gateway/gateway.ts';
import { type AccountChanges, accountAt } from '../support/execute.ts';
import { type Listening, listening } from '../support/listening.ts';
import { toStoredDestinations } from '../support/outgoing.ts';

/** `V0`, `V1` and so on. */
export const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `V${index}`);

const withBody = z.object({ request: z.object({ body: z.instanceof(Uint8Array) }) });

/** The MessageIDs of the headers that undici writes from now on, in order. */
export function watchHeaders(): Disposable & { readonly written: readonly string[] } {
  const written: string[] = [];
  const onSendHeaders = (message: unknown): void => {
    const { request } = withBody.parse(message);
    const [, messageId = 'unknown'] = /"MessageID":"(V\d+)"/.exec(Buffer.from(request.body).toString()) ?? [];
    written.push(messageId);
  };
  subscribe('undici:client:sendHeaders', onSendHeaders);
  return { written, [Symbol.dispose]: () => unsubscribe('undici:client:sendHeaders', onSendHeaders) };
}

/** Real servers that misbehave, on free ports of this machine, closed at the end of a test. */

export type Peer = Listening & { readonly url: string };

/** Calls `onConnection` for each connection, and speaks no HTTP of its own. */
export function tcpPeer(onConnection: (socket: Socket) => void): Promise<Peer> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  return peerOf(server);
}

/** Writes these bytes when a request's header arrives, then calls `afterwards`. */
export function answeringPeer(bytes: string, afterwards: (socket: Socket) => void = () => {}): Promise<Peer> {
  return tcpPeer((socket) => {
    socket.once('data', () => socket.write(bytes, () => afterwards(socket)));
  });
}

/** An HTTP server; the listener gets each request with its MessageID, after the body. */
export function httpPeer(
  listener: (messageId: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<Peer> {
  return textPeer((body, response, request) => {
    // The gateway's probe of a connection.
    if (request.method === 'GET') response.writeHead(404).end();
    else listener(messageIdOf(JSON.parse(body)), response, request);
  });
}

/** An HTTP server; the listener gets each request with any body. */
export function textPeer(
  listener: (body: string, response: ServerResponse, request: IncomingMessage) => void,
): Promise<Peer> {
  const onRequest: RequestListener = async (request, response) => {
    listener(await text(request), response, request);
  };
  return peerOf(createHttpServer({ keepAliveTimeout: 60_000 }, onRequest));
}

function messageIdOf(body: unknown): string {
  const { MessageData } = body as { MessageData: { MessageID: string } };
  return MessageData.MessageID;
}

async function peerOf(server: Server): Promise<Peer> {
  const listener = await listening(server);
  return { ...listener, url: `http://127.0.0.1:${listener.port}` };
}

export function answerSuccess(messageId: string, response: ServerResponse): void {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ Result: 'Success', MessageID: messageId }));
}

export function openTestGateway(baseUrl: string, changes: AccountChanges = {}): Gateway & AsyncDisposable {
  const gateway = openGateway(testAccount(baseUrl, changes));
  return { ...gateway, [Symbol.asyncDispose]: gateway.close };
}

export function testAccount(baseUrl: string, { timeouts, ...changes }: AccountChanges = {}): Account {
  return accountAt(baseUrl, {
    name: 'test',
    concurrency: 1,
    timeouts: { connect: 1000, ...timeouts },
    ...changes,
  });
}

export function smsRequest(messageId: string, text = 'Hi'): OutgoingRequest {
  return {
    channel: 'sms',
    messageId,
    fields: { Message: text },
    destinations: toStoredDestinations([{ Recipient: '+64211234567' }]),
    files: [],
    keypads: [],
  };
}
