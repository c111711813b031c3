import { Client } from 'undici';
import type { EncodedLookUp, EncodedSendRequest } from '../wire/wire.ts';
import type { Answer, Evidence } from './evidence.ts';
import { type ExchangeLimits, exchange } from './exchange.ts';

/**
 * What an answer says of the connection it came on. `keep`: the answer is certainly to our request, so the next request
 * may follow. `close`: something is wrong. `prove`: the answer counts only if no other answer is on its way; `isAnother`
 * tells whether what came next was one.
 */
export type Trust =
  | { readonly kind: 'keep' }
  | { readonly kind: 'close' }
  | { readonly kind: 'prove'; readonly isAnother: (next: Answer) => boolean };

/** Asked behind an answer that has to be proved. */
const questions = 3;

export type Connections = {
  /**
   * One exchange, on a connection that carries no other meanwhile. Never rejects, never sends twice.
   *
   * @param trustIn is asked of a whole answer; anything but `keep` ends the connection
   * @param cutOff ends the exchange where it stands
   */
  readonly exchange: (
    request: EncodedSendRequest | EncodedLookUp,
    trustIn: (answer: Answer) => Trust,
    cutOff?: AbortSignal,
  ) => Promise<Evidence>;
  /** Lets exchanges under way finish, then closes the connections. */
  readonly close: () => Promise<void>;
};

/** `answered`: how many exchanges the connection that stands now has carried. */
type Line = { client: Client; answered: number };

/**
 * Connections to the service, each used by one exchange at a time and handed to the next only while every answer on it
 * was certainly the answer to its own request. HTTP/1.1 has nothing but the order to tell by: after one answer too many,
 * each following request would get the answer to the one before it.
 *
 * @param limits with `connect`: how long connecting may take; milliseconds
 * @param most connections at once
 * @param harmless a path that anybody may look at
 */
export function openConnections(
  url: URL,
  limits: ExchangeLimits & { readonly connect: number },
  most: number,
  harmless: string,
): Connections {
  const lines: Line[] = [];
  const idle: Line[] = [];
  const waiting: ((line: Line) => void)[] = [];
  const underWay = new Set<Promise<Evidence>>();
  let closed = false;
  /** Whether the service was seen to say `close` when it is asked to: then one question is enough. */
  let saysClose = false;

  const openClient = (): Client =>
    new Client(url.origin, {
      // With more at a time, undici moves requests from a lost connection to another.
      pipelining: 1,
      // undici speaks HTTP/2 by default and there sends a refused or unprocessed request again by itself, POST included.
      allowH2: false,
      connect: { timeout: limits.connect },
    });

  function openLine(): Line {
    const line = { client: openClient(), answered: 0 };
    lines.push(line);
    countAnew(line);
    return line;
  }

  function countAnew(line: Line): void {
    line.client.on('connect', () => {
      line.answered = 0;
    });
  }

  function take(): Line | Promise<Line> {
    if (lines.length < most) return openLine();
    return new Promise((resolve) => waiting.push(resolve));
  }

  function giveBack(line: Line): void {
    const next = waiting.shift();
    if (next) next(line);
    else idle.push(line);
  }

  /**
   * Whether the last answer on this connection was the last request's. Harmless requests follow, and the last of them asks
   * the service to close: it answers what is still unanswered first, and says `close` with its last answer only (RFC 9112,
   * 9.6). A service that does not say so has to answer several of them as they would be answered by themselves.
   */
  async function isInOrder(line: Line, isAnother: (next: Answer) => boolean): Promise<boolean> {
    const { answered } = line;
    const question = { method: 'GET', path: harmless, headers: {} } as const;
    for (let left = saysClose ? 1 : questions; left > 0; left--) {
      const next = await exchange(line.client, question, limits, undefined, left === 1);
      if (next.kind !== 'answer' || line.answered !== answered || isAnother(next)) return false;
      if (left === 1) saysClose = next.closing === true;
      if (next.closing) break;
    }
    return true;
  }

  async function exchangeOn(
    line: Line,
    ...[request, trustIn, cutOff]: Parameters<Connections['exchange']>
  ): Promise<Evidence> {
    const evidence = await exchange(line.client, request, limits, cutOff);
    if (evidence.kind !== 'answer') return evidence;
    const isFirst = line.answered === 0;
    line.answered++;
    const trust = trustIn(evidence);
    if (trust.kind === 'keep') return evidence;
    // A service that says `close` processes nothing after what it says it to, so it has not taken a later request.
    const proven =
      trust.kind === 'close' || isFirst || evidence.closing || (await isInOrder(line, trust.isAnother));
    void line.client.destroy();
    line.client = openClient();
    countAnew(line);
    return proven ? evidence : { ...evidence, unproven: true };
  }

  async function takeTurn(...asked: Parameters<Connections['exchange']>): Promise<Evidence> {
    const line = idle.pop() ?? (await take());
    try {
      return await exchangeOn(line, ...asked);
    } finally {
      // Not in this turn: what has already arrived behind the answer, or the end of the connection, is read first.
      setImmediate(giveBack, line);
    }
  }

  return {
    async exchange(...asked) {
      if (closed) return { kind: 'not_sent', error: 'the gateway is closed' };
      const exchanging = takeTurn(...asked);
      underWay.add(exchanging);
      try {
        return await exchanging;
      } finally {
        underWay.delete(exchanging);
      }
    },
    async close() {
      closed = true;
      await Promise.all(underWay);
      await Promise.all(lines.map(({ client }) => client.close()));
    },
  };
}
