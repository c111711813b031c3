import type { OutgoingRequest } from '../domain/message.ts';
import { wireInterface } from '../wire/interfaces.ts';
import { joinPath } from '../wire/rest-2-paths.ts';
import type { DecodeSendAnswer, SendAnswer, StatusLookUp } from '../wire/wire-interface.ts';
import type { Account } from './account.ts';
import { openConnections, type Trust } from './connections.ts';
import type { Answer, Evidence } from './evidence.ts';
import {
  type InconclusiveLookUp,
  type LookUp,
  type RecipientLookUp,
  readLookUp,
  readRecipientLookUp,
} from './look-up.ts';
import { checkReachable, type Reachability } from './reachable.ts';
import { createRedactor, redactVerdict } from './redact.ts';
import { assessTrust } from './trust.ts';
import { classify, type Verdict } from './verdict.ts';

export type Gateway = {
  /**
   * One HTTP exchange; its outcome, good or bad, is the evidence.
   *
   * @param signal ends the exchange where it stands
   * @throws Error, before anything is sent, for a request the account's interface cannot express.
   */
  readonly send: (request: OutgoingRequest, signal?: AbortSignal) => Promise<Evidence>;
  /** What an exchange means for the request with this MessageID. No text of it holds the account's credentials. */
  readonly classify: (evidence: Evidence, messageId: string) => Verdict;
  /**
   * Asks the service what it knows of a MessageID: one HTTP exchange. Never rejects; `unclear` where the interface
   * cannot be asked. No text of the answer holds the account's credentials.
   *
   * @param signal ends the exchange where it stands
   */
  readonly lookUp: (messageId: string, signal?: AbortSignal) => Promise<LookUp>;
  /**
   * Asks the service what it knows of the recipients of a MessageID, a page of them at a time, from 1; otherwise as
   * `lookUp`.
   */
  readonly lookUpRecipients: (
    messageId: string,
    page: number,
    signal?: AbortSignal,
  ) => Promise<RecipientLookUp>;
  /** Opens and closes a connection, without any HTTP. */
  readonly checkReachable: () => Promise<Reachability>;
  /** Lets exchanges under way finish, then closes the connections. */
  readonly close: () => Promise<void>;
};

/** The largest answer that is read (bytes); a real one has a few hundred. */
const maxAnswerBytes = 1024 * 1024;

/** @throws InputError when the account's interface and format are not available. */
export function openGateway(account: Account): Gateway {
  const wire = wireInterface(account.interface, account.format);
  const { timeouts, credentials } = account;
  const limits = { headers: timeouts.headers, body: timeouts.body, maxAnswerBytes };
  const redact = createRedactor(credentials);
  const url = new URL(account.baseUrl);
  const pathTo = (path: string): string => joinPath(url.pathname, path);
  const decode = memoizeDecode(wire.decodeSendAnswer);
  // A SOAP service answers a look at its endpoint with a fault, and this with its description.
  const probePath = wire.name === 'soap-tts' ? `${url.pathname}?wsdl` : url.pathname;
  const connections = openConnections(
    url,
    { ...limits, connect: timeouts.connect },
    account.concurrency,
    probePath,
  );

  async function askStatus<Answer>(
    messageId: string,
    page: number | undefined,
    signal: AbortSignal | undefined,
    read: (statusLookUp: StatusLookUp, evidence: Evidence) => Answer,
  ): Promise<Answer | InconclusiveLookUp> {
    const { statusLookUp } = wire;
    if (!statusLookUp) return { kind: 'unclear', reason: `${wire.name} has no status look-up` };
    const encoded = statusLookUp.encode(messageId, credentials, page);
    const located = { ...encoded, path: pathTo(encoded.path) };
    const evidence = await connections.exchange(located, assessLookUpTrust(messageId, statusLookUp), signal);
    return read(statusLookUp, evidence);
  }

  return {
    // Not async: a request that cannot be encoded must throw before there is a promise, which only evidence fulfils.
    send(request, signal) {
      const encoded = wire.encodeSendRequest(request, credentials);
      const located = { ...encoded, path: pathTo(encoded.path) };
      const trust = (answer: Answer): Trust => assessTrust(answer, request.messageId, decode);
      return connections.exchange(located, trust, signal);
    },
    classify: (evidence, messageId) => redactVerdict(classify(evidence, messageId, decode), redact),
    lookUp: (messageId, signal) =>
      askStatus(messageId, undefined, signal, ({ decode }, evidence) =>
        readLookUp(evidence, messageId, decode, redact),
      ),
    lookUpRecipients: (messageId, page, signal) =>
      askStatus(messageId, page, signal, (statusLookUp, evidence) =>
        readRecipientLookUp(evidence, messageId, statusLookUp, redact),
      ),
    checkReachable: () => checkReachable(url, timeouts.connect),
    close: () => connections.close(),
  };
}

/** Each body is looked at twice: by whoever keeps the connection, and by whoever judges the answer. */
function memoizeDecode(decode: DecodeSendAnswer): DecodeSendAnswer {
  const results = new WeakMap<Uint8Array, SendAnswer>();
  return (body) => {
    const result = results.get(body) ?? decode(body);
    results.set(body, result);
    return result;
  };
}

/** What names no MessageID, or another, leaves the message in doubt; the connection is not used again. */
function assessLookUpTrust(messageId: string, { decode }: StatusLookUp): (answer: Answer) => Trust {
  return ({ body }) => {
    const decoded = decode(body);
    const isOurs = 'messageId' in decoded && decoded.messageId === messageId;
    return { kind: isOurs ? 'keep' : 'close' };
  };
}
