import { Client } from 'undici';
import type { EncodedLookUp, EncodedSendRequest } from '../wire/wire-interface.ts';
import type { Answer, Evidence } from './evidence.ts';
import { type ExchangeLimits, exchange } from './exchange.ts';

/**
 * What an answer says of the connection it came on. `keep`: the answer is certainly to our request, so the next request
 * may follow. `close`: something is wrong. `prove`: the answer counts only if no other answer is on its way; `isOtherAnswer`
 * tells whether what came next was one.
 */
export type Trust =
  | { readonly kind: 'keep' }
  | { readonly kind: 'close' }
  | { readonly kind: 'prove'; readonly isOtherAnswer: (next: Answer) => boolean };

/** Asked behind an answer that has to be proved. */
const maxProbes = 3;

export type Connections = {
  /**
   * One exchange, on a connection that carries no other meanwhile. Never rejects, never sends twice.
   *
   * @param assessTrust is asked of a whole answer; anything but `keep` ends the connection
   * @param signal ends the exchange where it stands
   */
  readonly exchange: (
    request: EncodedSendRequest | EncodedLookUp,
    assessTrust: (answer: Answer) => Trust,
    signal?: AbortSignal,
  ) => Promise<Evidence>;
  /** Lets exchanges under way finish, then closes the connections. */
  readonly close: () => Promise<void>;
};

/** `exchanges`: how many exchanges the connection that stands now has carried. */
type Connection = { client: Client; exchanges: number };

/**
 * Connections to the service, each used by one exchange at a time and handed to the next only while every answer on it
 * was certainly the answer to its own request. HTTP/1.1 has nothing but the order to tell by: after one answer too many,
 * each following request would get the answer to the one before it.
 *
 * @param limits with `connect`: how long connecting may take; milliseconds
 * @param maxConnections connections at once
 * @param probePath a path that anybody may look at
 */
export function openConnections(
  url: URL,
  limits: ExchangeLimits & { readonly connect: number },
  maxConnections: number,
  probePath: string,
): Connections {
  const connections: Connection[] = [];
  const idle: Connection[] = [];
  const waiting: ((line: Connection) => void)[] = [];
  const inFlight = new Set<Promise<Evidence>>();
  let closed = false;
  /** Whether the service was seen to say `close` when it is asked to: then one question is enough. */
  let honoursClose = false;

  const openClient = (): Client =>
    new Client(url.origin, {
      // With more at a time, undici moves requests from a lost connection to another.
      pipelining: 1,
      // undici speaks HTTP/2 by default and there sends a refused or unprocessed request again by itself, POST included.
      allowH2: false,
      connect: { timeout: limits.connect },
    });

  function openConnection(): Connection {
    const connection = { client: openClient(), exchanges: 0 };
    connections.push(connection);
    resetCountOnConnect(connection);
    return connection;
  }

  function resetCountOnConnect(connection: Connection): void {
    connection.client.on('connect', () => {
      connection.exchanges = 0;
    });
  }

  function acquire(): Connection | Promise<Connection> {
    if (connections.length < maxConnections) return openConnection();
    return new Promise((resolve) => waiting.push(resolve));
  }

  function release(connection: Connection): void {
    const next = waiting.shift();
    if (next) next(connection);
    else idle.push(connection);
  }

  /**
   * Whether the last answer on this connection was the last request's. Harmless requests follow, and the last of them asks
   * the service to close: it answers what is still unanswered first, and says `close` with its last answer only (RFC 9112,
   * 9.6). A service that does not say so has to answer several of them as they would be answered by themselves.
   */
  async function provesOrder(
    connection: Connection,
    isOtherAnswer: (next: Answer) => boolean,
  ): Promise<boolean> {
    const { exchanges } = connection;
    const probe = { method: 'GET', path: probePath, headers: {} } as const;
    for (let probesLeft = honoursClose ? 1 : maxProbes; probesLeft > 0; probesLeft--) {
      const next = await exchange(connection.client, probe, limits, undefined, probesLeft === 1);
      if (next.kind !== 'answer' || connection.exchanges !== exchanges || isOtherAnswer(next)) return false;
      if (probesLeft === 1) honoursClose = next.closing === true;
      if (next.closing) break;
    }
    return true;
  }

  async function exchangeOn(
    connection: Connection,
    ...[request, assessTrust, signal]: Parameters<Connections['exchange']>
  ): Promise<Evidence> {
    const evidence = await exchange(connection.client, request, limits, signal);
    if (evidence.kind !== 'answer') return evidence;
    const isFirst = connection.exchanges === 0;
    connection.exchanges++;
    const trust = assessTrust(evidence);
    if (trust.kind === 'keep') return evidence;
    // A service that says `close` processes nothing after what it says it to, so it has not taken a later request.
    const isProven =
      trust.kind === 'close' ||
      isFirst ||
      evidence.closing ||
      (await provesOrder(connection, trust.isOtherAnswer));
    void connection.client.destroy();
    connection.client = openClient();
    resetCountOnConnect(connection);
    return isProven ? evidence : { ...evidence, unproven: true };
  }

  async function exchangeInTurn(...parameters: Parameters<Connections['exchange']>): Promise<Evidence> {
    const connection = idle.pop() ?? (await acquire());
    try {
      return await exchangeOn(connection, ...parameters);
    } finally {
      // Not in this turn: what has already arrived behind the answer, or the end of the connection, is read first.
      setImmediate(release, connection);
    }
  }

  return {
    async exchange(...asked) {
      if (closed) return { kind: 'not_sent', error: 'the gateway is closed' };
      const exchanging = exchangeInTurn(...asked);
      inFlight.add(exchanging);
      try {
        return await exchanging;
      } finally {
        inFlight.delete(exchanging);
      }
    },
    async close() {
      closed = true;
      await Promise.all(inFlight);
      await Promise.all(connections.map(({ client }) => client.close()));
    },
  };
}
