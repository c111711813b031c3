import type { StatusLookUp, StatusLookUpPage } from '../wire/wire-interface.ts';
import type { Evidence } from './evidence.ts';
import type { Redact } from './redact.ts';

/** What a status look-up came to. Only `found` proves anything: that the service accepted the message. */
export type LookUp =
  /** `state` is the service's word for the message, `jobNumber` its own number of it. */
  | { readonly kind: 'found'; readonly state?: string; readonly jobNumber?: string }
  /** Never heard of, forgotten, or not processed yet: no proof that the message was not accepted. */
  | { readonly kind: 'not_found' }
  /** The service's own words; one entry or more. */
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  | InconclusiveLookUp;

export type InconclusiveLookUp = { readonly kind: 'unclear'; readonly reason: string };

/** As `LookUp`; one that is found has a page of recipients. */
export type RecipientLookUp =
  | Exclude<LookUp, { kind: 'found' }>
  | ({ readonly kind: 'found' } & StatusLookUpPage);

/** Longest MessageID, state and job number that are kept. */
const maxNameLength = 80;

/**
 * Reads the outcome of a look-up. An answer is `found` only if it is a whole, well-formed 200 for this MessageID whose
 * state is not `Unknown`; what cannot be told for certain is `unclear`.
 */
export function readLookUp(
  evidence: Evidence,
  messageId: string,
  decode: StatusLookUp['decode'],
  redact: Redact,
): LookUp {
  if (evidence.kind !== 'answer') return { kind: 'unclear', reason: evidence.error };
  const { status } = evidence;
  const unclear = (why: string): LookUp => ({ kind: 'unclear', reason: `HTTP ${status}: ${why}` });
  const toName = (text: string): string => redact(text).slice(0, maxNameLength);
  const answer = decode(evidence.body);
  if (status === 401 || status === 403 || (answer.kind === 'unauthorized' && status < 500)) {
    const words = answer.kind === 'unauthorized' ? answer.words : [];
    return { kind: 'unauthorized', words: words.length > 0 ? words.map(redact) : [`HTTP ${status}`] };
  }
  if ('messageId' in answer && answer.messageId !== messageId) {
    return unclear(`the answer is for another MessageID (${toName(answer.messageId)})`);
  }
  if (answer.kind === 'found' && status === 200) {
    const { state, jobNumber } = answer;
    if (state?.toLowerCase() === 'unknown') return unclear('the state of the message is Unknown');
    return {
      kind: 'found',
      ...(state && { state: toName(state) }),
      ...(jobNumber && { jobNumber: toName(jobNumber) }),
    };
  }
  if (answer.kind === 'not_found' && status === 404) return { kind: 'not_found' };
  return unclear(
    answer.kind === 'unreadable' ? answer.why : 'the status and the answer contradict each other',
  );
}

/** As `readLookUp`. What the recipients' members say proves itself no more than in a delivery report. */
export function readRecipientLookUp(
  evidence: Evidence,
  messageId: string,
  { decode, decodeRecipients }: StatusLookUp,
  redact: Redact,
): RecipientLookUp {
  const lookUp = readLookUp(evidence, messageId, decode, redact);
  if (lookUp.kind !== 'found') return lookUp;
  const page = evidence.kind === 'answer' ? decodeRecipients(evidence.body) : { recipients: [], pages: 1 };
  return { kind: 'found', ...page };
}
