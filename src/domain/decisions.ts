import {
  listOf,
  number,
  oneOf,
  orNull,
  type ReasonKind,
  reasonKind,
  text,
  textOrNull,
  type ValuesOf,
} from './reason-kind.ts';
import { formatDuration, formatPercent } from './scalar-text.ts';
import { canaryFailures, isGuardReason, type WatchReason, watchReasonKinds } from './watch-reasons.ts';

/** What decides which variant is better. */
export const winnerMeasures = ['delivered', 'replied', 'optedOut'] as const;
export type WinnerMeasure = (typeof winnerMeasures)[number];

/** Whether Volley or a person promotes a run. */
export const canaryPromotions = ['auto', 'manual'] as const;

/** How large a canary is to be. */
export type CanarySize =
  | { readonly kind: 'share'; readonly share: number }
  | { readonly kind: 'number'; readonly recipients: number };

/** Why a decision fell when it did. */
const decisionCauses = ['evidence', 'all reports', 'time', 'operator'] as const;
export type DecisionCause = (typeof decisionCauses)[number];

/** A share of a canary's recipients, and its limit. */
const comparedShare = reasonKind(
  {
    what: oneOf(canaryFailures),
    found: number,
    /** Of so many recipients. */
    of: number,
    /** The largest allowed share. */
    limit: number,
    /** If the true share were the limit, so much would be seen with at most this probability, at any look. */
    probability: number,
  },
  ({ what, found, of, limit }) => `${found} of ${of} ${what} (limit ${formatPercent(limit)})`,
);
export type ComparedShare = ValuesOf<typeof comparedShare>;

/** What decided about a canary. */
const canary = reasonKind(
  {
    cause: oneOf(decisionCauses),
    /** Milliseconds since it was sent. */
    observedMs: number,
    /** How often, at most, a run is aborted by evidence although its true shares are within their limits. */
    alpha: number,
    shares: listOf(comparedShare.holds),
  },
  ({ cause, observedMs, alpha, shares }) => {
    const errs = `it aborts at most ${formatPercent(alpha)} of such runs`;
    const found = `${shares.map(comparedShare.words).join(', ')}.`;
    const compared = `the shares were compared with their limits: ${found} A sequential test had looked before: if the true shares are within their limits, ${errs}.`;
    switch (cause) {
      case 'evidence': {
        const strongest = Math.min(...shares.map(({ probability }) => probability));
        return `Sequential test (mixture of likelihood ratios): ${found} If the true shares were within their limits, so much would be seen with a probability of at most ${formatPercent(strongest)}; ${errs}.`;
      }
      case 'all reports':
        return `All delivery reports are in, and ${compared}`;
      case 'time':
        return `After ${wholeSeconds(observedMs)}, ${compared}`;
      case 'operator':
        return `After ${wholeSeconds(observedMs)}: ${found}`;
    }
  },
);
export type CanaryRecord = ValuesOf<typeof canary>;

/** A test, and the numbers that it decided by. */
const guardTest = reasonKind(
  {
    name: text,
    /** The logarithm of an e-value, and what is needed of it. */
    evidence: number,
    needed: number,
    /** In at most this share of healthy runs, the tests of a guard together find anything. */
    errorRate: number,
  },
  ({ name, evidence, needed, errorRate }) =>
    ` Its test (${name}) has the evidence ${evidence.toFixed(1)} and needs ${needed.toFixed(1)}, which healthy runs reach in at most ${formatPercent(errorRate)} of cases.`,
);
export type GuardTest = ValuesOf<typeof guardTest>;

/** What a guard found. `test`: null for what needs none. */
const guard = reasonKind(
  { reason: isGuardReason, test: orNull(guardTest.holds) },
  ({ reason, test }) =>
    `The guard found: ${watchReasonKinds[reason.kind].words(reason)}.${test === null ? '' : guardTest.words(test)}`,
);
export type GuardRecord = ValuesOf<typeof guard>;

const measureWords: Readonly<Record<WinnerMeasure, string>> = {
  delivered: 'undelivered',
  replied: 'replied',
  optedOut: 'opted out',
};

/** What was counted of a variant: recipients that were undelivered, replied or opted out, of those accepted. */
const comparedVariant = reasonKind(
  { name: text, events: number, trials: number },
  ({ name, events, trials }) => `"${name}" ${events} of ${trials}`,
);

/** What decided which variant the rest of a run gets. */
const winner = reasonKind(
  {
    cause: oneOf(['evidence', 'time', 'operator'] as const),
    by: oneOf(winnerMeasures),
    /** How often, at most, a variant wins that is not better. */
    alpha: number,
    /** Fewer events of a pair decide nothing. */
    minEvents: number,
    /** Milliseconds since all were sent. */
    observedMs: number,
    variants: listOf(comparedVariant.holds),
    /** The name of the variant that the rest gets; null: a person decides. */
    sends: textOrNull,
  },
  ({ cause, by, alpha, observedMs, variants, sends }) => {
    const found = `${variants.map(comparedVariant.words).join(', ')} ${measureWords[by]}.`;
    const next = sends === null ? 'A person decides what the rest gets.' : `The rest gets "${sends}".`;
    const test = `Sequential test of each pair of shares, which errs in at most ${formatPercent(alpha)} of runs`;
    switch (cause) {
      case 'evidence':
        return `${test}: ${found} ${next}`;
      case 'time':
        return `${test}, found no better one in ${wholeSeconds(observedMs)}: ${found} ${next}`;
      case 'operator':
        return `After ${wholeSeconds(observedMs)}: ${found} ${next}`;
    }
  },
);
export type WinnerRecord = ValuesOf<typeof winner>;

function wholeSeconds(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  return seconds === 0 ? '0s' : formatDuration(seconds * 1_000);
}

/** What Volley or an operator decides about a run that is watched, and what is recorded of it. */
const decisions = {
  'canary promoted': canary,
  'canary aborted': canary,
  'canary waits': canary,
  'guard stopped': guard,
  'guard warned': guard,
  winner,
  'no winner': winner,
} as const satisfies Readonly<Record<string, ReasonKind<unknown>>>;
export type DecisionKind = keyof typeof decisions;
export const decisionKinds = Object.keys(decisions);

/** What a look at a run decides. */
export type Decision = {
  readonly kind: DecisionKind;
  readonly record: object;
  /** Given if the run pauses. */
  readonly pause?: WatchReason;
  /** Given if it goes on, and is only notified about. */
  readonly warning?: WatchReason;
  /** The variant that the rest of a sent run gets; null: a person decides. */
  readonly rest?: { readonly variant: number | null };
};

/** A sentence or two about a decision: what was found, by which test, and how often that errs. */
export function decisionText(kind: DecisionKind, record: unknown): string {
  const { holds, words } = decisions[kind];
  return holds(record) ? words(record) : 'Another version of Volley recorded it.';
}
