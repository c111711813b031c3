import { type RejectionReason, rejectionReasons } from '../../domain/contacts.ts';
import {
  type RecipientCounts,
  type RecipientState,
  type RunState,
  recipientStates,
} from '../../domain/runs.ts';
import type { RejectionGroup } from '../../ledger/counts/groups.ts';

/** A state of a recipient, or why a contact was left out. */
export type ContactState = RecipientState | RejectionReason;

/** What comes of the contacts of a run, in the words of commands and pages, each with the states that it has. */
export const outcomes = {
  delivered: ['delivered'],
  undelivered: ['undelivered'],
  waiting: ['pending', 'accepted'],
  'not accepted': ['rejected', 'failed'],
  unknown: ['unknown'],
  cancelled: ['cancelled'],
  'left out': rejectionReasons,
} as const satisfies Readonly<Record<string, readonly ContactState[]>>;
export type Outcome = keyof typeof outcomes;

/** What a list of contacts can be of: an outcome, or one of its states. */
export const contactWords = [
  ...new Set([...(Object.keys(outcomes) as Outcome[]), ...recipientStates, ...rejectionReasons]),
];
export type ContactWord = Outcome | ContactState;

/** The states of an outcome; a state is its own; undefined: all of recipients. */
export function statesOf(word: ContactWord | undefined): readonly ContactState[] {
  if (word === undefined) return recipientStates;
  return word in outcomes ? outcomes[word as Outcome] : [word as ContactState];
}

export type OutcomeCount = {
  readonly outcome: Outcome;
  readonly count: number;
  /** What it consists of, if that is more than one state. */
  readonly states: readonly { readonly state: ContactState; readonly count: number }[];
};

/** Counts each outcome that occurs. Their sum is the recipients and the contacts that were left out. */
export function countOutcomes(
  recipients: RecipientCounts,
  leftOut: Readonly<Record<RejectionReason, number>>,
): OutcomeCount[] {
  const counts = { ...recipients, ...leftOut };
  return (Object.keys(outcomes) as Outcome[])
    .map((outcome): OutcomeCount => {
      const states = outcomes[outcome].map((state) => ({ state, count: counts[state] }));
      const count = states.reduce((sum, each) => sum + each.count, 0);
      return { outcome, count, states: states.length > 1 ? states.filter((each) => each.count > 0) : [] };
    })
    .filter(({ count }) => count > 0);
}

/** Adds up contacts that were left out, by reason. */
export function countLeftOut(rejections: readonly RejectionGroup[]): Record<RejectionReason, number> {
  const counts = { invalid: 0, duplicate: 0, suppressed: 0 };
  for (const { reason, contacts } of rejections) counts[reason] += contacts;
  return counts;
}

/**
 * The percentage of accepted recipients that is delivered, with one decimal, and never 100 before the last one; null
 * where none was accepted.
 */
export function deliveredShare({
  accepted,
  delivered,
}: {
  readonly accepted: number;
  readonly delivered: number;
}): string | null {
  if (accepted === 0) return null;
  const tenths = Math.round((1_000 * delivered) / accepted);
  return ((delivered < accepted ? Math.min(tenths, 999) : tenths) / 10).toFixed(1);
}

/** Recipients that the service has accepted, reported or not. */
export function countAccepted({ accepted, delivered, undelivered }: RecipientCounts): number {
  return accepted + delivered + undelivered;
}

/** The state of a run for people: a run whose recipients are not all known is not simply completed. */
export function runStateWords(state: RunState, unknown: number): string {
  return state === 'completed' && unknown > 0 ? 'completed with unknown' : state;
}
