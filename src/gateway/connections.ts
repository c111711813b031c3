import { Client } from 'undici';
import type { EncodedLookUp, EncodedSendRequest } from '../wire/wire-interface.ts';
import type { Answer, Evidence } from './evidence.ts';
import { type ExchangeLimits, exchange } from './exchange.ts';

/**
 * What an answer means for its connection. `keep`: it certainly answers our request, or names no message but a job
 * number, which must not be that of the answer before. `close`: the answer counts, and the
 * connection is dropped. `prove`: it counts only if no other answer follows.
 */
export type Trust =
  | { readonly kind: 'keep'; readonly jobNumber?: string | undefined }
  | { readonly kind: 'close' }
  | { readonly kind: 'prove'; readonly couldBeOurAnswer: (next: Answer) => boolean };

type Connections = {
  /**
   * Makes one exchange, alone on its connection. Never rejects, never sends twice.
   *
   * @param assessTrust anything but `keep` ends the connection
   * @param signal aborts the exchange
   */
  readonly exchange: (
    request: EncodedSendRequest | EncodedLookUp,
    assessTrust: (answer: Answer) => Trust,
    signal?: AbortSignal,
  ) => Promise<Evidence>;
  /** Waits for exchanges in flight, then closes the connections. */
  readonly close: () => Promise<void>;
};

type ConnectionLimits = ExchangeLimits & {
  /** Milliseconds. */
  readonly connect: number;
};

/**
 * Each connection carries one exchange at a time, and is reused only while every answer on it certainly
 * belonged to its own request. HTTP/1.1 matches answers only by order: after one surplus answer, each request
 * would get the answer to the one before.
 *
 * @param probePath a path that can be requested without effect
 */
export function openConnections(
  url: URL,
  limits: ConnectionLimits,
  maxConnections: number,
  probePath: string,
): Connections {
  const pool = createPool(maxConnections, () => openConnection(url, limits));
  const provesOrder = createOrderProof(limits, probePath);
  const inFlight = new Set<Promise<Evidence>>();
  let closed = false;

  async function exchangeOn(
    connection: Connection,
    ...[request, assessTrust, signal]: Parameters<Connections['exchange']>
  ): Promise<Evidence> {
    const evidence = await exchange(connection.client, request, limits, { signal });
    if (evidence.kind !== 'answer') return evidence;
    const isFirst = connection.exchanges === 0;
    connection.exchanges++;
    const trust = assessTrust(evidence);
    if (trust.kind === 'keep') {
      // An answer that came twice: the next one on this connection would belong to this request.
      const isRepeated = trust.jobNumber !== undefined && trust.jobNumber === connection.jobNumber;
      connection.jobNumber = trust.jobNumber;
      if (isRepeated) reopenConnection(connection, url, limits);
      return evidence;
    }
    // Nothing before a first exchange could leave a surplus answer. After `close` a service processes nothing more.
    const isProven =
      trust.kind === 'close' ||
      isFirst ||
      evidence.closing ||
      (await provesOrder(connection, trust.couldBeOurAnswer));
    reopenConnection(connection, url, limits);
    return isProven ? evidence : { ...evidence, unproven: true };
  }

  async function exchangeInTurn(...parameters: Parameters<Connections['exchange']>): Promise<Evidence> {
    const connection = await pool.acquire();
    try {
      return await exchangeOn(connection, ...parameters);
    } finally {
      // Bytes or a disconnect that have already arrived after the answer are read first.
      setImmediate(pool.release, connection);
    }
  }

  return {
    async exchange(...parameters) {
      if (closed) return { kind: 'not_sent', error: 'the gateway is closed' };
      const exchanging = exchangeInTurn(...parameters);
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
      await Promise.all(pool.connections.map(({ client }) => client.close()));
    },
  };
}

/**
 * `exchanges`: how many the client's present connection has carried. `jobNumber`: of its last answer.
 */
type Connection = { client: Client; exchanges: number; jobNumber: string | undefined };

function openConnection(url: URL, limits: ConnectionLimits): Connection {
  const client = openClient(url, limits);
  const connection: Connection = { client, exchanges: 0, jobNumber: undefined };
  resetCountOnConnect(connection);
  return connection;
}

function reopenConnection(connection: Connection, url: URL, limits: ConnectionLimits): void {
  void connection.client.destroy();
  connection.client = openClient(url, limits);
  resetCountOnConnect(connection);
}

function openClient(url: URL, limits: ConnectionLimits): Client {
  return new Client(url.origin, {
    // With more at a time, undici moves requests from a lost connection to another one.
    pipelining: 1,
    // Over HTTP/2, undici resends refused and unprocessed requests by itself, POST included.
    allowH2: false,
    connect: { timeout: limits.connect },
  });
}

function resetCountOnConnect(connection: Connection): void {
  connection.client.on('connect', () => {
    connection.exchanges = 0;
    connection.jobNumber = undefined;
  });
}

type Pool = {
  readonly connections: readonly Connection[];
  readonly acquire: () => Connection | Promise<Connection>;
  readonly release: (connection: Connection) => void;
};

function createPool(maxConnections: number, open: () => Connection): Pool {
  const connections: Connection[] = [];
  const idle: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];
  return {
    connections,
    acquire() {
      const connection = idle.pop();
      if (connection) return connection;
      if (connections.length >= maxConnections) return new Promise((resolve) => waiting.push(resolve));
      const opened = open();
      connections.push(opened);
      return opened;
    },
    release(connection) {
      const next = waiting.shift();
      if (next) next(connection);
      else idle.push(connection);
    },
  };
}

const maxProbes = 3;

/**
 * Finds out whether the last answer belonged to the last request, with probes after it. The last probe asks
 * the service to close. A service answers all pending requests first, and sends `Connection: close` only with
 * its last answer (RFC 9112, 9.6). If it never does, it must give each of several probes a plain answer.
 */
function createOrderProof(
  limits: ExchangeLimits,
  probePath: string,
): (connection: Connection, couldBeOurAnswer: (next: Answer) => boolean) => Promise<boolean> {
  /** The service answered `close` before, so one probe is enough. */
  let honoursClose = false;
  return async (connection, couldBeOurAnswer) => {
    const { exchanges } = connection;
    const probe = { method: 'GET', path: probePath, headers: {} } as const;
    for (let probesLeft = honoursClose ? 1 : maxProbes; probesLeft > 0; probesLeft--) {
      const next = await exchange(connection.client, probe, limits, { reset: probesLeft === 1 });
      if (next.kind !== 'answer' || connection.exchanges !== exchanges || couldBeOurAnswer(next))
        return false;
      if (probesLeft === 1) honoursClose = next.closing === true;
      if (next.closing) break;
    }
    return true;
  };
}
