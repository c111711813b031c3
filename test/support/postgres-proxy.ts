import { connect, createServer, type Socket } from 'node:net';
import { type Listening, listening } from './listening.ts';

export type Cut = {
  /** Matches a statement; with `commit`, cuts at the COMMIT of its transaction. */
  readonly statement: RegExp;
  readonly commit?: boolean;
  /**
   * Whether Postgres executes the statement although the answer is lost. `late`: after the client has gone on.
   */
  readonly executed: Executed;
  /** How many matches pass first. */
  readonly after?: number;
};

export type Executed = 'never' | 'at once' | 'late';

export type PostgresProxy = Listening & {
  /** Leads through the proxy. */
  readonly url: string;
  /** Cuts one connection, and resolves afterwards. */
  readonly cut: (cut: Cut) => Promise<void>;
  /** Connections stay open, and nothing passes, until `stop`. */
  readonly hang: () => void;
};

type Armed = { readonly cut: Cut; left: number; readonly done: () => void };

/**
 * A TCP proxy that recognises Postgres statements, and cuts connections before a statement or its answer
 * arrives.
 *
 * @param target URL of a database, without TLS
 */
export async function startPostgresProxy(target: string): Promise<PostgresProxy> {
  const address = new URL(target);
  let armed: Armed[] = [];
  let isHanging = false;

  /** Each cut applies once. */
  const findCut = (statement: string, transaction: readonly string[]): Cut | undefined => {
    for (const order of armed) {
      const { cut } = order;
      const matches = cut.commit
        ? statement === 'COMMIT' && transaction.some((earlier) => cut.statement.test(earlier))
        : cut.statement.test(statement);
      if (!matches || order.left-- > 0) continue;
      armed = armed.filter((other) => other !== order);
      order.done();
      return cut;
    }
    return undefined;
  };

  const server = createServer((client) => {
    const host = decodeURIComponent(address.hostname);
    const port = Number(address.port);
    const upstream = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    forward(client, upstream, findCut, () => isHanging);
  });
  const listener = await listening(server);
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(listener.port);
  return {
    ...listener,
    url: url.href,
    hang() {
      isHanging = true;
    },
    stop() {
      isHanging = false;
      listener.stop();
    },
    cut: (cut) =>
      new Promise((done) => {
        armed.push({ cut, left: cut.after ?? 0, done });
      }),
  };
}

/** Long enough for the first retry (milliseconds). */
const lateCommitDelay = 400;

type FindCut = (statement: string, transaction: readonly string[]) => Cut | undefined;

/** @param hangs whether to drop data */
function forward(client: Socket, upstream: Socket, takeOrder: FindCut, hangs: () => boolean): void {
  const disconnect = (): void => {
    client.destroy();
    upstream.destroy();
  };
  const disconnectLate = (last: Buffer): void => {
    client.off('close', disconnect);
    client.destroy();
    setTimeout(() => upstream.end(last), lateCommitDelay);
  };
  for (const socket of [client, upstream]) {
    socket.setNoDelay(true);
    socket.on('error', disconnect);
    socket.on('close', disconnect);
  }
  const statements = createStatementReader();
  const fromClient = createMessageParser(true);
  const fromServer = createMessageParser(false);
  let transaction: string[] = [];
  /** Drop the answer to the executed statement. */
  let isAwaitingAnswer = false;

  client.on('data', (piece) => {
    if (hangs()) return;
    for (const { kind, bytes, body } of fromClient(piece)) {
      const statement = statements(kind, body);
      const cut = statement === undefined ? undefined : takeOrder(statement, transaction);
      // Without the complete statement, Postgres rolls back.
      if (cut?.executed === 'never') return disconnect();
      if (cut?.executed === 'late') return disconnectLate(bytes);
      if (cut) isAwaitingAnswer = true;
      upstream.write(bytes);
      if (statement === undefined) continue;
      if (statement.startsWith('BEGIN')) transaction = [];
      transaction.push(statement);
    }
  });
  upstream.on('data', (piece) => {
    if (hangs()) return;
    const messages = fromServer(piece);
    if (!isAwaitingAnswer) client.write(piece);
    else if (messages.some(({ kind }) => kind === 'Z')) disconnect();
  });
}

/** Returns the statement that a client's message completes. */
function createStatementReader(): (kind: string, body: Buffer) => string | undefined {
  const prepared = new Map<string, string>();
  let bound: string | undefined;
  return (kind, body) => {
    if (kind === 'Q') return textsIn(body, 1)[0];
    if (kind === 'P') {
      const [name = '', text = ''] = textsIn(body, 2);
      prepared.set(name, text);
    }
    if (kind === 'B') bound = prepared.get(textsIn(body, 2)[1] ?? '');
    if (kind !== 'S') return undefined;
    const statement = bound;
    bound = undefined;
    return statement;
  };
}
/**
 * Splits one direction of a Postgres connection into protocol messages. The parser takes pieces of the stream,
 * and returns complete messages.
 */
type PostgresMessage = {
  /** A letter; empty for a client's first message. */
  readonly kind: string;
  readonly bytes: Buffer;
  /** Without kind and length. */
  readonly body: Buffer;
};

/** @param firstHasNoKind true for the client's direction */
function createMessageParser(firstHasNoKind: boolean): (piece: Buffer) => readonly PostgresMessage[] {
  let rest: Buffer = Buffer.alloc(0);
  let bare = firstHasNoKind;
  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    const messages: PostgresMessage[] = [];
    for (;;) {
      const header = bare ? 4 : 5;
      if (rest.length < header) return messages;
      const length = rest.readInt32BE(header - 4) + header - 4;
      if (rest.length < length) return messages;
      const bytes = rest.subarray(0, length);
      const kind = bare ? '' : String.fromCharCode(bytes[0] ?? 0);
      messages.push({ kind, bytes, body: bytes.subarray(header) });
      rest = rest.subarray(length);
      bare = false;
    }
  };
}

/** Reads zero-terminated texts. */
function textsIn(body: Buffer, count: number): readonly string[] {
  return body.toString('utf8').split('\0', count);
}
