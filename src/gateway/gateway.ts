import type { OutgoingRequest } from '../domain/message.ts';
import { wireInterface } from '../wire/interfaces.ts';
import { joinPath } from '../wire/rest-2-head.ts';
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
import { assessLookUpTrust, assessTrust } from './trust.ts';
import { classify, type Verdict } from './verdict.ts';

export type Gateway = {
  /**
   * @param signal aborts the exchange
   * @throws Error, before anything is sent, for a request that the interface cannot express
   */
  readonly send: (request: OutgoingRequest, signal?: AbortSignal) => Promise<Evidence>;
  /** Where the request is sent to, without credentials. */
  readonly urlOf: (request: OutgoingRequest) => string;
  /** Its texts never contain the account's credentials. */
  readonly classify: (evidence: Evidence, messageId: string) => Verdict;
  /**
   * Asks the service about a MessageID. Never rejects; `unclear` if the interface has no look-up. Its texts
   * never contain the account's credentials.
   */
  readonly lookUp: (messageId: string, signal?: AbortSignal) => Promise<LookUp>;
  /** As `lookUp`, with one page of recipients, from 1. */
  readonly lookUpRecipients: (
    messageId: string,
    page: number,
    signal?: AbortSignal,
  ) => Promise<RecipientLookUp>;
  /** Opens and closes a connection, without HTTP. */
  readonly checkReachable: () => Promise<Reachability>;
  /** Waits for exchanges in flight, then closes the connections. */
  readonly close: () => Promise<void>;
};

/** A real answer has a few hundred bytes. */
const maxAnswerBytes = 1024 * 1024;

/** @throws InputError for an unavailable interface and format */
export function openGateway(account: Account): Gateway {
  const wire = wireInterface(account.interface, account.format);
  const { timeouts, credentials } = account;
  const limits = { headers: timeouts.headers, body: timeouts.body, maxAnswerBytes };
  const redact = createRedactor(credentials);
  const url = new URL(account.baseUrl);
  const pathTo = (path: string): string => joinPath(url.pathname, path);
  const decode = memoizeDecode((body) => wire.decodeSendAnswer(body, account.ttsReturn));
  // A SOAP service answers its plain address with a fault.
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
    // Not async: a request that cannot be encoded throws synchronously, because the promise stands for
    // evidence.
    send(request, signal) {
      const encoded = wire.encodeSendRequest(request, credentials);
      const located = { ...encoded, path: pathTo(encoded.path) };
      const trust = (answer: Answer): Trust => assessTrust(answer, request.messageId, decode);
      return connections.exchange(located, trust, signal);
    },
    urlOf: (request) => redact(`${url.origin}${pathTo(wire.encodeSendRequest(request, credentials).path)}`),
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

/** A body is decoded for its connection and for its verdict. */
function memoizeDecode(decode: DecodeSendAnswer): DecodeSendAnswer {
  const results = new WeakMap<Uint8Array, SendAnswer>();
  return (body) => {
    const result = results.get(body) ?? decode(body);
    results.set(body, result);
    return result;
  };
}
