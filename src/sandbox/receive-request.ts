import type { Channel, Format, InterfaceName, SendRequest } from '../domain/message.ts';
import { secretOf } from '../wire/credentials.ts';
import { decodeSendRequest } from '../wire/decode-send-request.ts';
import { encodeSendAnswer, encodeServerRefusal } from '../wire/encode-send-answer.ts';
import { forbiddenCredentials } from '../wire/forbidden-values.ts';
import { credentialRefusals, missingMessageData, refusals } from '../wire/required-fields.ts';
import type {
  DecodedSendRequest,
  EncodedAnswer,
  OutgoingAnswer,
  ReceivedRequest,
} from '../wire/wire-interface.ts';
import { isAcceptedSecret } from './check-secret.ts';

/** What the service knows besides the request itself. */
export type SandboxService = {
  /** The only token that is taken, or undefined for any. */
  readonly token: string | undefined;
  readonly lenient: boolean;
  readonly newMessageId: () => string;
  readonly jobNumberFor: (messageId: string) => string;
  /** Whether the service has a fault just now; asked once for each request it would otherwise accept. */
  readonly failsNow: (messageId: string) => boolean;
};

/** Under which names the service has a message. */
export type Acceptance = {
  /** The sender's MessageID, or the one that was generated. */
  readonly messageId: string;
  readonly jobNumber: string;
};

/** A request as far as it was understood, and the answer to it. */
export type Receipt = {
  readonly interface?: InterfaceName;
  /** Of the interface, as reports write it. */
  readonly version?: string;
  readonly format?: Format;
  readonly channel?: Channel;
  readonly request?: SendRequest;
  /** Only of a request that was accepted. */
  readonly acceptedAs?: Acceptance;
  readonly words: readonly string[];
  readonly answer: EncodedAnswer;
};

export const unauthorizedWords: readonly string[] = ['Invalid or missing auth token'];

/** Decides about one request: who is asking, is everything there, does it work (interface.md, sections 3, 5 and 7). */
export function receive(received: ReceivedRequest, service: SandboxService): Receipt {
  const decoded = decodeSendRequest(received);
  if (decoded.kind === 'other') {
    return refusedByServer(received, 404, `There is no ${received.method} ${received.path.slice(0, 200)}`);
  }
  const answer = decideAnswer(decoded, service);
  const { channel } = decoded.answer;
  return {
    interface: decoded.interface,
    version: decoded.version,
    format: decoded.format,
    ...(channel === undefined ? {} : { channel }),
    ...(decoded.kind === 'request' ? { request: decoded.request } : {}),
    ...(answer.kind === 'accepted' ? { acceptedAs: answer, words: [] } : { words: answer.words }),
    answer: encodeSendAnswer(answer, decoded.answer),
  };
}

/** An answer of the HTTP server rather than of an interface. */
export function refusedByServer(
  received: Pick<ReceivedRequest, 'path' | 'headers'>,
  status: number,
  words: string,
): Receipt {
  return { words: [words], answer: encodeServerRefusal(received, status, words) };
}

type SendRequestReceived = Exclude<DecodedSendRequest, { readonly kind: 'other' }>;

/** Credentials that are missing from a body are a missing field, 400; those that are wrong are 401 (section 7). */
function decideAnswer(decoded: SendRequestReceived, service: SandboxService): OutgoingAnswer {
  const missing = credentialRefusals(decoded.credentials);
  if (
    missing.length === 0 &&
    !isAcceptedSecret(decoded.credentials && secretOf(decoded.credentials), service.token)
  ) {
    return { kind: 'unauthorized', words: unauthorizedWords };
  }
  if (decoded.kind === 'unreadable') {
    return { kind: 'refused', words: [missingMessageData], messageId: service.newMessageId() };
  }
  const messageId = decoded.request.messageId ?? service.newMessageId();
  const words = missing.length > 0 ? missing : refusalsOf(decoded, service);
  if (words.length > 0) return { kind: 'refused', words, messageId };
  if (service.failsNow(messageId)) {
    return { kind: 'fault', words: ['Error occurred while creating job'], messageId };
  }
  return { kind: 'accepted', messageId, jobNumber: service.jobNumberFor(messageId) };
}

/** What is missing, which the service is known to find; where nothing is, what the document forbids. */
function refusalsOf(
  decoded: Extract<SendRequestReceived, { kind: 'request' }>,
  { lenient }: SandboxService,
): readonly string[] {
  const missing = refusals(decoded.interface, decoded.request);
  if (lenient || missing.length > 0) return missing;
  return [...new Set([...forbiddenCredentials(decoded.credentials), ...decoded.forbidden])];
}
