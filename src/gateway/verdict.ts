import type { DecodeSendAnswer, SendAnswer, StatusLookUp } from '../wire/wire-interface.ts';
import type { Trust } from './connections.ts';
import type { Answer, Evidence } from './evidence.ts';

/** What an exchange means for its request (table in docs/architecture.md, "States"). */
export type Verdict =
  /** `jobNumber`: if the answer named it instead of the MessageID. */
  | { readonly kind: 'accepted'; readonly jobNumber?: string }
  /** The service's own words; one entry or more. */
  | { readonly kind: 'rejected'; readonly words: readonly string[] }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  /** To be sent again with the same MessageID. `retryAfter` is the header's text. */
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfter?: string }
  | {
      readonly kind: 'in_doubt';
      readonly reason: string;
      /** The answer is no answer of the interface, and of no server in front of it: the address may be wrong. */
      readonly foreign?: true;
    };

/** The most characters of a quoted answer. */
const maxQuoteLength = 500;

/**
 * `retry` only if the service cannot have accepted the request.
 *
 * @param messageId of the request: an answer that names another one proves nothing
 */
export function classify(
  evidence: Evidence,
  messageId: string | undefined,
  decode: DecodeSendAnswer,
): Verdict {
  switch (evidence.kind) {
    case 'not_sent':
      return { kind: 'retry', reason: evidence.error };
    case 'no_answer':
      return { kind: 'in_doubt', reason: evidence.error };
    case 'answer':
      return classifyAnswer(evidence, messageId, decode);
  }
}

function classifyAnswer(answer: Answer, messageId: string | undefined, decode: DecodeSendAnswer): Verdict {
  const decoded = decode(answer.body);
  const named = 'messageId' in decoded ? decoded.messageId : undefined;
  const quoted = (): string => `HTTP ${answer.status}: ${wordsOf(decoded, answer).join('; ')}`;
  if (named !== undefined && named !== messageId) {
    return {
      kind: 'in_doubt',
      reason: `HTTP ${answer.status}, but the answer names another MessageID (${named.slice(0, 80)})`,
    };
  }
  if (decoded.kind === 'contradictory')
    return { kind: 'in_doubt', reason: `HTTP ${answer.status}, but ${decoded.why}` };
  const verdict = classifyByStatus(decoded, answer);
  if (!answer.unproven || named !== undefined || verdict.kind === 'accepted' || verdict.kind === 'in_doubt') {
    return verdict;
  }
  return {
    kind: 'in_doubt',
    reason: `${quoted()} (the answer names no MessageID, so it may belong to an earlier request)`,
  };
}

/** Classifies an answer with our MessageID, or with none. */
function classifyByStatus(decoded: SendAnswer, answer: Answer): Verdict {
  const { status, retryAfter } = answer;
  switch (status) {
    case 200:
      return classifyOk(decoded, answer);
    case 400:
      return classifyBadRequest(decoded, answer);
    case 500:
      return classifyFault(decoded, answer);
    case 401:
    case 403:
      return { kind: 'unauthorized', words: wordsOf(decoded, answer) };
    case 429:
    case 503:
      return {
        kind: 'retry',
        reason: `HTTP ${status}`,
        ...(retryAfter === undefined ? {} : { retryAfter: retryAfter }),
      };
    default:
      return toInDoubt(decoded, answer);
  }
}

/**
 * interface.md 2.9 documents `Failed` as "not accepted", so it is a rejection even with status 200. Samples
 * of it have no MessageID.
 */
function classifyOk(decoded: SendAnswer, answer: Answer): Verdict {
  switch (decoded.kind) {
    case 'unreadable':
      return toInDoubt(decoded, answer);
    case 'contradictory':
      return { kind: 'in_doubt', reason: `HTTP 200, but ${decoded.why}` };
    case 'fault':
      return classifyFault(decoded, answer);
    case 'unauthorized':
      return { kind: 'unauthorized', words: wordsOf(decoded, answer) };
    case 'unnamed_success':
      // Trusted without a MessageID, because it came on the exchange of our request.
      return {
        kind: 'accepted',
        ...(decoded.jobNumber === undefined ? {} : { jobNumber: decoded.jobNumber }),
      };
    case 'success':
      if (decoded.messageId !== undefined) return { kind: 'accepted' };
      return { kind: 'in_doubt', reason: 'HTTP 200, but the answer names no MessageID' };
    case 'failure':
      return { kind: 'rejected', words: decoded.words.length > 0 ? decoded.words : ['Failed'] };
  }
}

/** Any body is a rejection, unless it says something else. */
function classifyBadRequest(decoded: SendAnswer, answer: Answer): Verdict {
  switch (decoded.kind) {
    case 'success':
    case 'unnamed_success':
    case 'contradictory':
      return toInDoubt(decoded, answer);
    case 'fault':
      return classifyFault(decoded, answer);
    case 'unauthorized':
      return { kind: 'unauthorized', words: wordsOf(decoded, answer) };
    case 'failure':
      return { kind: 'rejected', words: wordsOf(decoded, answer) };
    case 'unreadable':
      return answer.body.length === 0
        ? toInDoubt(decoded, answer)
        : { kind: 'rejected', words: wordsOf(decoded, answer) };
  }
}

/** SOAP over HTTP answers 500 to every fault. Sender faults correspond to 400 of REST, credential faults to 401. */
function classifyFault(decoded: SendAnswer, answer: Answer): Verdict {
  const words = wordsOf(decoded, answer);
  if (decoded.kind === 'fault' && decoded.origin === 'sender') return { kind: 'rejected', words };
  if (decoded.kind === 'fault' && decoded.origin === 'credential') return { kind: 'unauthorized', words };
  return toInDoubt(decoded, answer);
}

/** Whether a server in front of the service may have answered, so that the address may be right. */
export function mayBeInFront({ status }: Answer): boolean {
  return [429, 500, 502, 503, 504].includes(status);
}

export function describeForeign(answer: Answer): string {
  const { status, mediaType = 'no media type' } = answer;
  return `HTTP ${status}, ${mediaType}: ${quote(answer).replaceAll(/\s+/g, ' ')}`;
}

/** the SQL function `failure_words` groups these reasons by status and media type. */
function toInDoubt(decoded: SendAnswer, answer: Answer): Verdict {
  if (decoded.kind === 'unreadable' && decoded.messageId === undefined) {
    const reason = describeForeign(answer);
    return { kind: 'in_doubt', reason, ...(mayBeInFront(answer) ? {} : { foreign: true }) };
  }
  return { kind: 'in_doubt', reason: `HTTP ${answer.status}: ${wordsOf(decoded, answer).join('; ')}` };
}

/** The service's words; otherwise a quote of the answer. Never empty. */
function wordsOf(decoded: SendAnswer, answer: Answer): readonly string[] {
  if ('words' in decoded && decoded.words.length > 0) return decoded.words;
  return [quote(answer)];
}

function quote({ body }: Answer): string {
  const text = body.toString('utf8').replaceAll('\0', '').trim().slice(0, maxQuoteLength);
  return text === '' ? 'the answer has no text' : text;
}

/**
 * Whether an answer certainly belongs to the request with this MessageID. Without a MessageID it may be a
 * surplus answer to an earlier request, while the service accepts this one. `unnamed_success` is trusted,
 * because its interfaces never name a message; a job number that came before shows a surplus answer.
 */
export function assessTrust(answer: Answer, messageId: string | undefined, decode: DecodeSendAnswer): Trust {
  const decoded = decode(answer.body);
  if (decoded.kind === 'unnamed_success') return { kind: 'keep', jobNumber: decoded.jobNumber };
  if (namesMessage(decoded, messageId)) return { kind: 'keep' };
  switch (classify(answer, messageId, decode).kind) {
    case 'rejected':
    case 'unauthorized':
    case 'retry':
      return { kind: 'prove', couldBeOurAnswer: (next) => mayAnswerSend(next, messageId, decode) };
    case 'accepted':
    case 'in_doubt':
      return { kind: 'close' };
  }
}

/** After these the service may have accepted the request; 503 says that it did not. */
const unclearStatuses = [500, 502, 504];

/** Whether a later answer may be the real one, and report acceptance. */
function mayAnswerSend(answer: Answer, messageId: string | undefined, decode: DecodeSendAnswer): boolean {
  const decoded = decode(answer.body);
  // SOAP over HTTP answers 500 to sender faults too.
  if (decoded.kind === 'fault' && decoded.origin !== 'service') return false;
  return (
    unclearStatuses.includes(answer.status) ||
    decoded.kind === 'success' ||
    decoded.kind === 'unnamed_success' ||
    decoded.kind === 'fault' ||
    namesMessage(decoded, messageId)
  );
}

function namesMessage(decoded: SendAnswer, messageId: string | undefined): boolean {
  return messageId !== undefined && 'messageId' in decoded && decoded.messageId === messageId;
}

/** Without our MessageID the message stays in doubt, and the connection is not reused. */
export function assessLookUpTrust(messageId: string, { decode }: StatusLookUp): (answer: Answer) => Trust {
  return ({ body }) => {
    const decoded = decode(body);
    const isOurs = 'messageId' in decoded && decoded.messageId === messageId;
    return { kind: isOurs ? 'keep' : 'close' };
  };
}
