import { member } from '../wire/json.ts';
import type { StatusLookUp, StatusLookUpPage } from '../wire/wire-interface.ts';
import { parseMembers } from '../wire/xml.ts';
import type { Evidence } from './evidence.ts';
import type { Redact } from './redact.ts';
import { describeForeign, mayBeInFront } from './verdict.ts';

/** Only `found` proves anything: the service accepted the message. */
export type LookUp =
  /** `state` is the service's word. The recipients prove no more than a delivery report. */
  | ({ readonly kind: 'found'; readonly state?: string; readonly jobNumber?: string } & StatusLookUpPage)
  /** Unknown, deleted, or not processed yet: no proof that the message was not accepted. */
  | { readonly kind: 'not_found' }
  /** In the service's words; one entry or more. */
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  | InconclusiveLookUp;

export type InconclusiveLookUp = {
  readonly kind: 'unclear';
  readonly reason: string;
  /** Status, media type and first words of an answer in no form of the interface, from no server in front of it. */
  readonly foreign?: string;
};

/** The most characters of a quoted answer. */
const maxQuoteLength = 160;

/** The longest MessageID, state or job number that is kept. */
const maxNameLength = 80;

/** `found` requires a whole, well-formed 200 for this MessageID with a state other than `Unknown`. */
export function readLookUp(
  evidence: Evidence,
  messageId: string,
  { decode, decodeRecipients }: StatusLookUp,
  redact: Redact,
): LookUp {
  if (evidence.kind !== 'answer') return { kind: 'unclear', reason: evidence.error };
  const { status } = evidence;
  const unclear = (why: string): InconclusiveLookUp => ({
    kind: 'unclear',
    reason: `HTTP ${status}: ${why}`,
  });
  const toName = (text: string): string => redact(text).slice(0, maxNameLength);
  const answer = decode(evidence.body);
  if (status === 401 || status === 403 || (answer.kind === 'unauthorized' && status < 500)) {
    const words = answer.kind === 'unauthorized' ? answer.words : [];
    return { kind: 'unauthorized', words: words.length > 0 ? words.map(redact) : [`HTTP ${status}`] };
  }
  if ('messageId' in answer && answer.messageId !== messageId) {
    return unclear(`the answer names another MessageID (${toName(answer.messageId)})`);
  }
  if (answer.kind === 'found' && status === 200) {
    const { state, jobNumber } = answer;
    if (state?.toLowerCase() === 'unknown') return unclear('the state of the message is Unknown');
    return {
      kind: 'found',
      ...(state && { state: toName(state) }),
      ...(jobNumber && { jobNumber: toName(jobNumber) }),
      ...decodeRecipients(evidence.body),
    };
  }
  if (answer.kind === 'not_found' && status === 404) return { kind: 'not_found' };
  if (answer.kind !== 'unreadable') return unclear('the status and the answer contradict each other');
  if (mayBeInFront(evidence) || hasResult(evidence.body)) return unclear(answer.why);
  return { ...unclear(answer.why), foreign: redact(describeForeign(evidence)).slice(0, maxQuoteLength) };
}

/** Whether it has a result, as every answer of the interface does. */
function hasResult(body: Uint8Array): boolean {
  return member(parseMembers(body) ?? {}, 'Result') !== undefined;
}
