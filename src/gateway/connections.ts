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

/** `assessTrust`: anything but `keep` ends the connection. `signal` aborts the exchange. */
type ExchangeParameters = [
  request: EncodedSendRequest | EncodedLookUp,
  assessTrust: (answer: Answer) => Trust,
  signal?: AbortSignal | undefined,
];

type ConnectionLimits = ExchangeLimits & {
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
) {
  const pool = createPool(maxConnections, () => openConnection(url, limits));
  const provesOrder = createOrderProof(limits, probePath);
  const inFlight = new Set<Promise<Evidence>>();
  let closed = false;

  async function exchangeOn(
    connection: Connection,
    ...[request, assessTrust, signal]: ExchangeParameters
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
      if (isRepeated) connection.reopen();
      return evidence;
    }
    // Nothing before a first exchange could leave a surplus answer. After `close` a service processes nothing more.
    const isProven =
      trust.kind === 'close' ||
      isFirst ||
      evidence.closing ||
      (await provesOrder(connection, trust.couldBeOurAnswer));
    connection.reopen();
    return isProven ? evidence : { ...evidence, unproven: true };
  }

  async function exchangeInTurn(...parameters: ExchangeParameters): Promise<Evidence> {
    const connection = await pool.acquire();
    try {
      return await exchangeOn(connection, ...parameters);
    } finally {
      // Bytes or a disconnect that have already arrived after the answer are read first.
      setImmediate(pool.release, connection);
    }
  }

  return {
    /** Makes one exchange, alone on its connection. Never rejects, never sends twice. */
    async exchange(...parameters: ExchangeParameters): Promise<Evidence> {
      if (closed) return { kind: 'not_sent', error: 'the gateway is closed' };
      const exchanging = exchangeInTurn(...parameters);
      inFlight.add(exchanging);
      try {
        return await exchanging;
      } finally {
        inFlight.delete(exchanging);
      }
    },
    async close(): Promise<void> {
      closed = true;
      await Promise.all(inFlight);
      await Promise.all(pool.connections.map(({ client }) => client.close()));
    },
  };
}

type Connection = {
  client: Client;
  /** How many the present client has carried. */
  exchanges: number;
  /** Of its last answer. */
  jobNumber: string | undefined;
  readonly reopen: () => void;
};

function openConnection(url: URL, limits: ConnectionLimits): Connection {
  const openClient = (): Client =>
    new Client(url.origin, {
      // With more at a time, undici moves requests from a lost connection to another one.
      pipelining: 1,
      // Over HTTP/2, undici resends refused and unprocessed requests by itself, POST included.
      allowH2: false,
      connect: { timeout: limits.connect },
    }).on('connect', () => {
      connection.exchanges = 0;
      connection.jobNumber = undefined;
    });
  const connection: Connection = {
    client: openClient(),
    exchanges: 0,
    jobNumber: undefined,
    reopen() {
      void connection.client.destroy();
      connection.client = openClient();
    },
  };
  return connection;
}

function createPool(maxConnections: number, open: () => Connection) {
  const connections: Connection[] = [];
  const idle: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];
  return {
    connections,
    acquire(): Connection | Promise<Connection> {
      const connection = idle.pop();
      if (connection) return connection;
      if (connections.length >= maxConnections) return new Promise((resolve) => waiting.push(resolve));
      const opened = open();
      connections.push(opened);
      return opened;
    },
    release(connection: Connection): void {
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
