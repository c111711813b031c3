import type { Channel, Format, InterfaceName, SendRequest } from '../domain/message.ts';
import { digestOf, matchesDigest } from '../platform/digest.ts';
import { encodeSendAnswer, encodeServerRefusal } from '../wire/answer-members.ts';
import { forbiddenCredentials } from '../wire/forbidden-values.ts';
import { decodeSendRequest } from '../wire/interfaces.ts';
import { credentialRefusals, missingMessageData, refusals } from '../wire/required-fields.ts';
import type {
  DecodedSendRequest,
  EncodedAnswer,
  OutgoingAnswer,
  ReceivedRequest,
} from '../wire/wire-interface.ts';
import { type Credentials, secretOf } from '../wire/wire-interface.ts';
import type { SandboxSettings } from './options.ts';
import { createJobNumber, seededRandom } from './seeded-values.ts';

export type SandboxService = {
  readonly settings: SandboxSettings;
  /** How often the MessageID was received before. */
  readonly timesReceived: (messageId: string) => number;
};

export type Acceptance = {
  /** The sender's, or a generated one. */
  readonly messageId: string;
  readonly jobNumber: string;
};

/** A request as far as it was understood, and its answer. */
export type Receipt = {
  readonly interface?: InterfaceName;
  readonly version?: string;
  readonly format?: Format;
  readonly channel?: Channel;
  readonly request?: SendRequest;
  /** Only of an accepted request. */
  readonly acceptedAs?: Acceptance;
  readonly words: readonly string[];
  readonly answer: EncodedAnswer;
};

export const unauthorizedWords: readonly string[] = ['Invalid or missing auth token'];

/** Decides about one request (interface.md, sections 3, 5 and 7). */
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

/** An answer of the HTTP server instead of an interface. */
export function refusedByServer(
  received: Pick<ReceivedRequest, 'path' | 'headers'>,
  status: number,
  words: string,
): Receipt {
  return { words: [words], answer: encodeServerRefusal(received, status, words) };
}

type SendRequestReceived = Exclude<DecodedSendRequest, { readonly kind: 'other' }>;

/** Missing credentials in a body are a missing field (400); wrong ones are 401 (section 7). */
function decideAnswer(
  decoded: SendRequestReceived,
  { settings, timesReceived }: SandboxService,
): OutgoingAnswer {
  const { seed } = settings;
  const missing = credentialRefusals(decoded.credentials);
  if (missing.length === 0 && !areAccepted(decoded.credentials, settings.token))
    return { kind: 'unauthorized', words: unauthorizedWords };
  if (decoded.kind === 'unreadable') {
    return { kind: 'refused', words: [missingMessageData], messageId: settings.newMessageId() };
  }
  const messageId = decoded.request.messageId ?? settings.newMessageId();
  const words = missing.length > 0 ? missing : refusalsOf(decoded, settings);
  if (words.length > 0) return { kind: 'refused', words, messageId };
  // Depends on the number of the attempt, because a request must not fail for ever.
  if (seededRandom('fault', seed, messageId, timesReceived(messageId)) < settings.failRate) {
    return { kind: 'fault', words: ['Error occurred while creating job'], messageId };
  }
  return { kind: 'accepted', messageId, jobNumber: createJobNumber('job', seed, messageId) };
}

/** Missing fields, which the service checks too; otherwise forbidden values. */
function refusalsOf(
  decoded: Extract<SendRequestReceived, { kind: 'request' }>,
  { lenient }: Pick<SandboxSettings, 'lenient'>,
): readonly string[] {
  const missing = refusals(decoded.interface, decoded.request);
  if (lenient || missing.length > 0) return missing;
  return [...new Set([...forbiddenCredentials(decoded.credentials), ...decoded.forbidden])];
}

/** Accepts any secret, or only `token` if it is set. */
export function areAccepted(credentials: Credentials | undefined, token: string | undefined): boolean {
  const secret = credentials && secretOf(credentials);
  return Boolean(secret) && (token === undefined || matchesDigest(secret ?? '', digestOf(token)));
}
