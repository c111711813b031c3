import type { DecodeSendAnswer, SendAnswer } from '../wire/wire.ts';
import type { Evidence } from './evidence.ts';

/** What an exchange means for its request: the table in design.md, "States". */
export type Verdict =
  /** `job`: the service's own number, where its answer named that in place of the MessageID. */
  | { readonly kind: 'accepted'; readonly job?: string }
  /** The service's own words; one entry or more. */
  | { readonly kind: 'rejected'; readonly words: readonly string[] }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  /** To be sent again with the same MessageID. `wait` is the text of Retry-After, if there was one. */
  | { readonly kind: 'retry'; readonly reason: string; readonly wait?: string }
  | { readonly kind: 'in_doubt'; readonly reason: string };

type Answer = Extract<Evidence, { kind: 'answer' }>;

/** Most characters kept of an answer that could only be quoted. */
const longestQuote = 500;

/**
 * Judges an exchange by what it proved. `retry` is given only where the service cannot have accepted the request.
 *
 * @param messageId the request's own: a success for any other proves nothing
 * @param decode reads the answer's body as the account's interface writes it
 */
export function classify(evidence: Evidence, messageId: string, decode: DecodeSendAnswer): Verdict {
  switch (evidence.kind) {
    case 'not_sent':
      return { kind: 'retry', reason: evidence.error };
    case 'no_answer':
      return { kind: 'in_doubt', reason: evidence.error };
    case 'answer':
      return classifyAnswer(evidence, messageId, decode);
  }
}

function classifyAnswer(answer: Answer, messageId: string, decode: DecodeSendAnswer): Verdict {
  const { status, retryAfter } = answer;
  const decoded = decode(status, answer.contentType, answer.body);
  // SOAP over HTTP says 500 to every fault; one that is the sender's is what REST says 400 to.
  const isSendersFault = decoded.kind === 'fault' && decoded.of === 'sender';
  if (isSendersFault && (status === 200 || status === 500)) {
    return { kind: 'rejected', words: wordsOf(decoded, answer) };
  }
  switch (status) {
    case 200:
      return classifyOk(decoded, answer, messageId);
    case 400:
      return { kind: 'rejected', words: wordsOf(decoded, answer) };
    case 401:
    case 403:
      return { kind: 'unauthorized', words: wordsOf(decoded, answer) };
    case 429:
    case 503:
      return {
        kind: 'retry',
        reason: `HTTP ${status}`,
        ...(retryAfter === undefined ? {} : { wait: retryAfter }),
      };
    default:
      return { kind: 'in_doubt', reason: `HTTP ${status}: ${wordsOf(decoded, answer).join('; ')}` };
  }
}

/**
 * `Failed` with status 200 is a readable "not accepted" (interface.md 2.9: `Success` when the request was accepted,
 * `Failed` otherwise), so it counts as a rejection; a failure for another MessageID is not about our request. A failure
 * without MessageID is ours: the samples leave it out.
 */
function classifyOk(decoded: SendAnswer, answer: Answer, messageId: string): Verdict {
  if (decoded.kind === 'unreadable') return { kind: 'in_doubt', reason: `HTTP 200, but ${decoded.why}` };
  if (decoded.kind === 'fault') {
    return { kind: 'in_doubt', reason: `HTTP 200 with a fault: ${wordsOf(decoded, answer).join('; ')}` };
  }
  if (decoded.kind === 'success') {
    if (decoded.messageId === messageId) return { kind: 'accepted' };
    // The answer came on the very exchange our request went out on, in a form that has no room for a MessageID.
    if (decoded.messageId === undefined && decoded.job !== undefined) {
      return { kind: 'accepted', job: decoded.job };
    }
    return { kind: 'in_doubt', reason: `HTTP 200 for ${nameOf(decoded.messageId)}` };
  }
  if (decoded.messageId !== undefined && decoded.messageId !== messageId) {
    return { kind: 'in_doubt', reason: `HTTP 200 with a failure for ${nameOf(decoded.messageId)}` };
  }
  return { kind: 'rejected', words: decoded.words.length > 0 ? decoded.words : ['Failed'] };
}

function nameOf(messageId: string | undefined): string {
  return messageId === undefined ? 'no MessageID' : `another MessageID (${messageId.slice(0, 80)})`;
}

/** The service's words; where it gave none that can be read, the answer itself, shortened. Never empty. */
function wordsOf(decoded: SendAnswer, answer: Answer): readonly string[] {
  const words = decoded.kind === 'failure' || decoded.kind === 'fault' ? decoded.words : [];
  if (words.length > 0) return words;
  const quote = answer.body.toString('utf8').replaceAll('\0', '').trim().slice(0, longestQuote);
  return [quote === '' ? 'no text in the answer' : quote];
}
