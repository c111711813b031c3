import type { DeliveryResult, FailureGroup, RejectionGroup } from '../../ledger/counts/groups.ts';
import { recipientStateOf } from '../../ledger/counts/run-counts.ts';
import { wordsOf } from '../../report/lists/usual.ts';
import { type ContactState, contactWords, statesOf } from '../../report/run/run-outcome.ts';
import { type Fields, textIn, wordIn } from '../base/fields.ts';

/** Which contacts of a run a list is about. An unknown state asks for all recipients; `cause` is that of a `Cause`. */
export function readAskedContacts(query: Fields) {
  const state = wordIn(query, 'state', contactWords);
  const cause = state && (textIn(query, 'cause') || undefined);
  return { state, cause, states: statesOf(state) };
}

/** Contacts of a run in the same state with the same words. */
export type Cause = {
  readonly state: ContactState;
  /** A digest of the words, or the column that is the cause; empty for other words together, which have no list. */
  readonly cause: string;
  readonly words: string;
  readonly contacts: number;
};

type Groups = {
  readonly results: readonly DeliveryResult[];
  readonly failures: readonly FailureGroup[];
  readonly rejections: readonly RejectionGroup[];
};

/** Lists the largest first. */
export function listCauses({ results, failures, rejections }: Groups): Cause[] {
  const causes: Cause[] = [
    ...results.map(({ outcome, group, result, recipients }) => {
      return { state: outcome, cause: group, words: wordsOf(result), contacts: recipients };
    }),
    ...failures.map(({ state, group, reason, recipients }) => {
      return { state: recipientStateOf[state], cause: group, words: wordsOf(reason), contacts: recipients };
    }),
    ...rejections.map(({ reason, column, contacts }) => {
      return { state: reason, cause: column, words: `column ${column}`, contacts };
    }),
  ];
  return causes
    .filter(({ contacts }) => contacts > 0)
    .toSorted((one, other) => other.contacts - one.contacts);
}
