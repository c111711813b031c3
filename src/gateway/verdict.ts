import type { DecodeSendAnswer, SendAnswer } from '../wire/wire-interface.ts';
import type { Answer, Evidence } from './evidence.ts';

/** What an exchange means for its request: the table in design.md, "States". */
export type Verdict =
  /** `jobNumber`: the service's own number, where its answer named that in place of the MessageID. */
  | { readonly kind: 'accepted'; readonly jobNumber?: string }
  /** The service's own words; one entry or more. */
  | { readonly kind: 'rejected'; readonly words: readonly string[] }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  /** To be sent again with the same MessageID. `retryAfter` is the text of Retry-After, if there was one. */
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfter?: string }
  | { readonly kind: 'in_doubt'; readonly reason: string };

/** Most characters kept of an answer that could only be quoted. */
const maxQuoteLength = 500;

/**
 * Judges an exchange by what it proved. `retry` is given only where the service cannot have accepted the request.
 *
 * @param messageId the request's own: an answer that names any other proves nothing
 * @param decode reads the answer's body as the account's interface writes it
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
      reason: `HTTP ${answer.status} for another MessageID (${named.slice(0, 80)})`,
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
    reason: `${quoted()} (it names no MessageID, and may be the answer to an earlier request)`,
  };
}

/** Of an answer that names our MessageID, or none. */
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
 * `Failed` with status 200 is a readable "not accepted" (interface.md 2.9: `Success` when the request was accepted,
 * `Failed` otherwise), so it counts as a rejection. A failure without MessageID is ours: the samples leave it out.
 */
function classifyOk(decoded: SendAnswer, answer: Answer): Verdict {
  switch (decoded.kind) {
    case 'unreadable':
    case 'contradictory':
      return { kind: 'in_doubt', reason: `HTTP 200, but ${decoded.why}` };
    case 'fault':
      return classifyFault(decoded, answer);
    case 'unauthorized':
      return { kind: 'unauthorized', words: wordsOf(decoded, answer) };
    case 'unnamed_success':
      // The answer came on the very exchange our request went out on, in a form that has no room for a MessageID.
      return {
        kind: 'accepted',
        ...(decoded.jobNumber === undefined ? {} : { jobNumber: decoded.jobNumber }),
      };
    case 'success':
      if (decoded.messageId !== undefined) return { kind: 'accepted' };
      return { kind: 'in_doubt', reason: 'HTTP 200 for no MessageID' };
    case 'failure':
      return { kind: 'rejected', words: decoded.words.length > 0 ? decoded.words : ['Failed'] };
  }
}

/** A 400 with a body, whatever its shape, unless the body says something else. */
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

/** SOAP over HTTP says 500 to every fault; one that is the sender's is what REST says 400 or 401 to. */
function classifyFault(decoded: SendAnswer, answer: Answer): Verdict {
  const words = wordsOf(decoded, answer);
  if (decoded.kind === 'fault' && decoded.origin === 'sender') return { kind: 'rejected', words };
  if (decoded.kind === 'fault' && decoded.origin === 'credential') return { kind: 'unauthorized', words };
  return toInDoubt(decoded, answer);
}

function toInDoubt(decoded: SendAnswer, answer: Answer): Verdict {
  return { kind: 'in_doubt', reason: `HTTP ${answer.status}: ${wordsOf(decoded, answer).join('; ')}` };
}

/** The service's words; where it gave none that can be read, the answer itself, shortened. Never empty. */
function wordsOf(decoded: SendAnswer, answer: Answer): readonly string[] {
  if ('words' in decoded && decoded.words.length > 0) return decoded.words;
  const quote = answer.body.toString('utf8').replaceAll('\0', '').trim().slice(0, maxQuoteLength);
  return [quote === '' ? 'no text in the answer' : quote];
}
