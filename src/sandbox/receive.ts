import type { Channel, Format, InterfaceName, SendRequest } from '../domain.ts';
import { wireInterfaces } from '../wire/interfaces.ts';
import { missingMessageData, refusals } from '../wire/required.ts';
import type {
  EncodedSendAnswer,
  ReceivedRequest,
  SendAnswerToWrite,
  WireCredentials,
  WireInterface,
} from '../wire/wire.ts';

/** What the service knows besides the request itself. */
export type Service = {
  /** The only token that is taken, or undefined for any. */
  readonly token: string | undefined;
  readonly newMessageId: () => string;
  /** Whether the service has a fault just now; asked once for each request it would otherwise accept. */
  readonly failsNow: (messageId: string) => boolean;
};

/** A request as far as it was understood, and the answer to it. */
export type Receipt = {
  readonly interface?: InterfaceName;
  readonly format?: Format;
  readonly channel?: Channel;
  readonly request?: SendRequest;
  /** Only of a request that was accepted: the sender's MessageID, or the one that was generated. */
  readonly acceptedAs?: string;
  /** Why it was not accepted. */
  readonly words: readonly string[];
  readonly answer: EncodedSendAnswer;
};

/** Decides about one request: who is asking, is everything there, does it work (interface.md, sections 3, 5 and 7). */
export function receive(received: ReceivedRequest, service: Service): Receipt {
  for (const wire of wireInterfaces) {
    const decoded = wire.decodeSendRequest(received);
    if (decoded.kind === 'other') continue;
    const channel = decoded.kind === 'request' ? decoded.request.channel : decoded.channel;
    const request = decoded.kind === 'request' ? decoded.request : undefined;
    const answer = decide(wire, request, decoded.credentials, service);
    return {
      interface: wire.name,
      format: wire.format,
      channel,
      ...(request ? { request } : {}),
      ...(answer.kind === 'accepted' ? { acceptedAs: answer.messageId } : {}),
      words: answer.kind === 'accepted' ? [] : answer.words,
      answer: wire.encodeSendAnswer(answer, channel),
    };
  }
  return { words: ['Not Found'], answer: plainAnswer(404, 'Not Found') };
}

/** An answer of the HTTP server rather than of the interface. */
export function plainAnswer(status: number, text: string): EncodedSendAnswer {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: Buffer.from(text) };
}

function decide(
  wire: WireInterface,
  request: SendRequest | undefined,
  credentials: WireCredentials | undefined,
  service: Service,
): SendAnswerToWrite {
  if (!isKnown(credentials, service))
    return { kind: 'unauthorized', words: ['Invalid or missing auth token'] };
  if (!request) return { kind: 'refused', words: [missingMessageData] };

  const words = refusals(wire.name, request);
  if (words.length > 0) {
    const { messageId } = request;
    return { kind: 'refused', words, ...(messageId === undefined ? {} : { messageId }) };
  }
  const messageId = request.messageId ?? service.newMessageId();
  if (service.failsNow(messageId)) return { kind: 'fault', words: ['Error occurred while creating job'] };
  return { kind: 'accepted', messageId };
}

function isKnown(credentials: WireCredentials | undefined, { token }: Service): boolean {
  if (!credentials) return false;
  return token === undefined || secretOf(credentials) === token;
}

function secretOf(credentials: WireCredentials): string {
  switch (credentials.kind) {
    case 'authToken':
      return credentials.authToken;
    case 'apiKey':
      return credentials.apiKey;
    case 'senderToken':
      return credentials.token;
  }
}
