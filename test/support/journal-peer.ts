import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { decodeSendRequest } from '../../src/wire/decode-send-request.ts';
import { encodeSendAnswer } from '../../src/wire/encode-send-answer.ts';
import type { DecodedSendRequest, EncodedAnswer } from '../../src/wire/wire-interface.ts';
import { openSyncedJournal } from './synced-journal.ts';

export type PeerBehaviour = {
  /** Milliseconds before a request is accepted, and again before that is answered. */
  readonly latency: number;
  /** Share of MessageIDs that are answered 400, every time. */
  readonly rejects: number;
  /** Share of requests that are answered 429 or 503, whatever their MessageID. */
  readonly busy: number;
};

/** A message that was accepted. */
export type Acceptance = { readonly messageId: string; readonly recipients: readonly string[] };

/**
 * A service that believes nothing: it accepts a MessageID as often as it comes, and writes every acceptance to the disk
 * before it answers. What has come whole is accepted, also when whoever sent it is gone by then.
 */
export type JournalPeer = AsyncDisposable & {
  readonly url: string;
  /** In order, as the file has them, once nothing is on its way here any more. */
  readonly acceptances: () => Promise<readonly Acceptance[]>;
  /** Resolves with the time (`performance.now`) of the next send request that comes. */
  readonly nextRequest: () => Promise<number>;
  /** Whether it answers 400 to this MessageID, every time. */
  readonly refuses: (messageId: string) => boolean;
  /** Send requests that have come so far, and when (epoch milliseconds) the last of them did. */
  readonly received: () => { readonly requests: number; readonly lastAt: number };
  /** When each send request came (epoch milliseconds). */
  readonly arrivals: () => readonly number[];
  /** Resolves when so many send requests have come. */
  readonly hasReceived: (requests: number) => Promise<void>;
  /** Most send requests that were being answered at the same time. */
  readonly maxConcurrent: () => number;
  /** From now on; whoever is waiting for a latency waits no longer. */
  readonly behave: (changes: Partial<PeerBehaviour>) => void;
};

/** @param journal the path of its file, which need not exist */
export async function startJournalPeer(
  journal: string,
  behaviour: Partial<PeerBehaviour> = {},
): Promise<JournalPeer> {
  let behaviourNow: PeerBehaviour = { latency: 0, rejects: 0, busy: 0, ...behaviour };
  const synced = await openSyncedJournal(journal);
  let changed = new AbortController();
  let received = 0;
  const arrivals: number[] = [];
  let concurrent = 0;
  let maxConcurrent = 0;
  let nextArrival = Promise.withResolvers<number>();

  const wait = () =>
    sleep(behaviourNow.latency, undefined, { signal: changed.signal }).catch(() => undefined);
  const change = (changes: Partial<PeerBehaviour>): void => {
    behaviourNow = { ...behaviourNow, ...changes };
    changed.abort();
    changed = new AbortController();
  };

  const refuses = (messageId: string): boolean => seededRandom('rejects', messageId) < behaviourNow.rejects;

  async function answer(decoded: DecodedSendRequest): Promise<EncodedAnswer> {
    if (decoded.kind !== 'request' || decoded.request.messageId === undefined) return plain(404);
    const { messageId, destinations } = decoded.request;
    received++;
    arrivals.push(Date.now());
    nextArrival.resolve(performance.now());
    nextArrival = Promise.withResolvers();
    if (seededRandom('busy', received) < behaviourNow.busy) return plain(received % 2 === 0 ? 429 : 503);
    if (refuses(messageId)) {
      return encodeSendAnswer({ kind: 'refused', words: ['not this one'], messageId }, decoded.answer);
    }
    await wait();
    const acceptance: Acceptance = { messageId, recipients: destinations.map(({ Recipient }) => Recipient) };
    await synced.write(acceptance);
    await wait();
    return encodeSendAnswer({ kind: 'accepted', messageId, jobNumber: 'JOB00001' }, decoded.answer);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Whoever is killed while it writes has sent nothing that could be accepted.
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    concurrent++;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    const { method = '', url: path = '', headers } = request;
    const answered = await answer(decodeSendRequest({ method, path, query: '', headers, body }));
    concurrent--;
    response.writeHead(answered.status, answered.headers).end(answered.body);
  }

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    response.on('error', () => undefined);
    // What the disk refuses must not pass for an answer.
    handle(request, response).catch(() => response.destroy());
  });
  const url = await listen(server);
  return {
    url,
    async acceptances() {
      // What has come on a connection whose other end is gone is accepted before the connection is counted out.
      while (concurrent > 0 || (await connections(server)) > 0) await sleep(10);
      return read(journal);
    },
    nextRequest: () => nextArrival.promise,
    refuses,
    received: () => ({ requests: received, lastAt: arrivals.at(-1) ?? 0 }),
    arrivals: () => arrivals,
    async hasReceived(requests) {
      while (received < requests) await nextArrival.promise;
    },
    maxConcurrent: () => maxConcurrent,
    behave: change,
    async [Symbol.asyncDispose]() {
      change({ latency: 0 });
      server.close();
      server.closeAllConnections();
      while (concurrent > 0) await sleep(10);
      await synced.close();
    },
  };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the peer does not listen');
  return `http://127.0.0.1:${address.port}`;
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

async function read(journal: string): Promise<readonly Acceptance[]> {
  const lines = (await readFile(journal, 'utf8')).split('\n').slice(0, -1);
  return lines.map((line): Acceptance => JSON.parse(line));
}

function plain(status: number): EncodedAnswer {
  return { status, headers: { 'Content-Type': 'text/plain', 'Retry-After': '0' }, body: 'not now' };
}
