import type { OutgoingRequest } from '../domain/message.ts';
import { wireInterface } from '../wire/interfaces.ts';
import { joinPath } from '../wire/rest-2-head.ts';
import type { DecodeSendAnswer, SendAnswer } from '../wire/wire-interface.ts';
import type { Account } from './account.ts';
import { openConnections } from './connections.ts';
import type { Evidence } from './evidence.ts';
import { type LookUp, readLookUp } from './look-up.ts';
import { createRedactor, redactVerdict } from './redact.ts';
import { assessLookUpTrust, assessTrust, classify, type Verdict } from './verdict.ts';

export type Gateway = ReturnType<typeof openGateway>;

/** A real answer has a few hundred bytes. */
const maxAnswerBytes = 1024 * 1024;

/** @throws InputError for an unavailable interface and format */
export function openGateway(account: Account) {
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

  return {
    /**
     * Not async: a request that cannot be encoded throws synchronously, because the promise stands for evidence.
     *
     * @param signal aborts the exchange
     * @throws Error, before anything is sent, for a request that the interface cannot express
     */
    send(request: OutgoingRequest, signal?: AbortSignal): Promise<Evidence> {
      const encoded = wire.encodeSendRequest(request, credentials);
      const located = { ...encoded, path: pathTo(encoded.path) };
      return connections.exchange(
        located,
        (answer) => assessTrust(answer, request.messageId, decode),
        signal,
      );
    },
    /** Where the request is sent to, without credentials. */
    urlOf: (request: OutgoingRequest): string =>
      redact(`${url.origin}${pathTo(wire.encodeSendRequest(request, credentials).path)}`),
    /** Its texts never contain the account's credentials. */
    classify: (evidence: Evidence, messageId: string): Verdict =>
      redactVerdict(classify(evidence, messageId, decode), redact),
    /**
     * Asks the service about a MessageID. Never rejects; `unclear` if the interface has no look-up. Its texts
     * never contain the account's credentials.
     *
     * @param page of its recipients, from 1; without one, the smallest
     */
    async lookUp(messageId: string, signal?: AbortSignal, page?: number): Promise<LookUp> {
      const { statusLookUp } = wire;
      if (!statusLookUp) return { kind: 'unclear', reason: `${wire.name} has no status look-up` };
      const encoded = statusLookUp.encode(messageId, credentials, page);
      const located = { ...encoded, path: pathTo(encoded.path) };
      const trust = assessLookUpTrust(messageId, statusLookUp);
      return readLookUp(await connections.exchange(located, trust, signal), messageId, statusLookUp, redact);
    },
    /** Waits for exchanges in flight, then closes the connections. */
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
