import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { encodeSendAnswer } from '../../src/wire/answer-members.ts';
import { decodeSendRequest } from '../../src/wire/interfaces.ts';
import type { DecodedSendRequest, EncodedAnswer } from '../../src/wire/wire-interface.ts';
import { listening } from './listening.ts';

export type PeerBehaviour = {
  /** Milliseconds before accepting, and again before answering. */
  readonly latency: number;
  /** Share of MessageIDs that always get 400. */
  readonly rejects: number;
  /** Share of requests that get 429 or 503. */
  readonly busy: number;
};

export type Acceptance = { readonly messageId: string; readonly recipients: readonly string[] };

/** A service that accepts a MessageID as often as it arrives, and every complete request, even from a killed sender. */
export type AcceptingService = AsyncDisposable & {
  readonly url: string;
  /** In order, after all open requests are done. */
  readonly acceptances: () => Promise<readonly Acceptance[]>;
  /** Resolves with the time (`performance.now`) of the next send request. */
  readonly nextRequest: () => Promise<number>;
  /** Whether this MessageID always gets 400. */
  readonly refuses: (messageId: string) => boolean;
  /** Send requests so far, and the epoch milliseconds of the last one. */
  readonly received: () => { readonly requests: number; readonly lastAt: number };
  /** In epoch milliseconds. */
  readonly arrivals: () => readonly number[];
  readonly hasReceived: (requests: number) => Promise<void>;
  /** The maximum number of send requests in progress. */
  readonly maxConcurrent: () => number;
  /** Applies at once, and ends current waits. */
  readonly behave: (changes: Partial<PeerBehaviour>) => void;
};

export async function startAcceptingService(
  behaviour: Partial<PeerBehaviour> = {},
): Promise<AcceptingService> {
  const current = createBehaviour(behaviour);
  const accepted: Acceptance[] = [];
  let received = 0;
  const arrivals: number[] = [];
  let concurrent = 0;
  let maxConcurrent = 0;
  let nextArrival = Promise.withResolvers<number>();

  const refuses = (messageId: string): boolean => seededRandom('rejects', messageId) < current.get().rejects;

  async function answer(decoded: DecodedSendRequest): Promise<EncodedAnswer> {
    if (decoded.kind !== 'request' || decoded.request.messageId === undefined) return plain(404);
    const { messageId, destinations } = decoded.request;
    received++;
    arrivals.push(Date.now());
    nextArrival.resolve(performance.now());
    nextArrival = Promise.withResolvers();
    if (seededRandom('busy', received) < current.get().busy) return plain(received % 2 === 0 ? 429 : 503);
    if (refuses(messageId)) {
      return encodeSendAnswer({ kind: 'refused', words: ['not this one'], messageId }, decoded.answer);
    }
    await current.wait();
    accepted.push({ messageId, recipients: destinations.map(({ Recipient }) => Recipient) });
    await current.wait();
    return encodeSendAnswer({ kind: 'accepted', messageId, jobNumber: 'JOB00001' }, decoded.answer);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A sender killed while writing has sent nothing that could be accepted.
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    concurrent++;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    const { method = '', url: path = '', headers } = request;
    const answered = await answer(decodeSendRequest({ method, path, query: '', headers, body }));
    concurrent--;
    response.writeHead(answered.status, answered.headers).end(answered.body);
  }

  const server = createPeerServer(handle);
  const { port, stop } = await listening(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async acceptances() {
      // Requests of closed connections are accepted before the connection count drops.
      while (concurrent > 0 || (await connections(server)) > 0) await sleep(10);
      return accepted;
    },
    nextRequest: () => nextArrival.promise,
    refuses,
    received: () => ({ requests: received, lastAt: arrivals.at(-1) ?? 0 }),
    arrivals: () => arrivals,
    async hasReceived(requests) {
      while (received < requests) await nextArrival.promise;
    },
    maxConcurrent: () => maxConcurrent,
    behave: current.change,
    async [Symbol.asyncDispose]() {
      current.change({ latency: 0 });
      stop();
      while (concurrent > 0) await sleep(10);
    },
  };
}

function createBehaviour(first: Partial<PeerBehaviour>) {
  let behaviour: PeerBehaviour = { latency: 0, rejects: 0, busy: 0, ...first };
  let changed = new AbortController();
  return {
    get: () => behaviour,
    wait: () => sleep(behaviour.latency, undefined, { signal: changed.signal }).catch(() => undefined),
    change(changes: Partial<PeerBehaviour>): void {
      behaviour = { ...behaviour, ...changes };
      changed.abort();
      changed = new AbortController();
    },
  };
}

function createPeerServer(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Server {
  return createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    response.on('error', () => undefined);
    // A failed write to disk must not look like an answer.
    handle(request, response).catch(() => response.destroy());
  });
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

function plain(status: number): EncodedAnswer {
  return { status, headers: { 'Content-Type': 'text/plain', 'Retry-After': '0' }, body: 'not now' };
}
