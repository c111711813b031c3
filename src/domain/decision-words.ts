import {
  type CanaryRecord,
  type ComparedShare,
  type ComparedVariant,
  canaryFailures,
  type DecisionKind,
  decisionCauses,
  type WinnerMeasure,
  type WinnerRecord,
  winnerMeasures,
} from './decisions.ts';
import { number, oneOf, orNull, type ReasonKind, reasonKind, text, textOrNull } from './reason-kind.ts';
import { formatDuration, formatPercent } from './scalar-text.ts';
import { type GuardRecord, type GuardTest, isGuardReason, watchReasonKinds } from './watch-reasons.ts';

/** A sentence or two about a decision: what was found, by which test, and how often that errs. */
export function decisionText(kind: DecisionKind, record: unknown): string {
  const { holds, words } = records[kind];
  return holds(record) ? words(record) : 'Another version of Volley recorded it.';
}

const share = reasonKind<ComparedShare>(
  {
    what: oneOf(canaryFailures),
    found: number,
    of: number,
    limit: number,
    probability: number,
    below: orNull(number),
  },
  ({ what, found, of, limit, below }) => {
    const bound = below === null || what === 'unreported' ? '' : `, probably below ${formatPercent(below)}`;
    return `${found} of ${of} ${what} (limit ${formatPercent(limit)}${bound})`;
  },
);

const canary = reasonKind<CanaryRecord>(
  {
    cause: oneOf(decisionCauses),
    observedMs: number,
    alpha: number,
    shares: (value): value is CanaryRecord['shares'] => Array.isArray(value) && value.every(share.holds),
  },
  ({ cause, observedMs, alpha, shares }) => {
    const errs = formatPercent(alpha);
    const found = `${shares.map(share.words).join(', ')}.`;
    const time = wholeSeconds(observedMs);
    const strongest = Math.min(...shares.map(({ probability }) => probability));
    switch (cause) {
      case 'evidence':
        return `Sequential test (mixture of likelihood ratios): ${found} If the true shares were within their limits, so much would be seen with a probability of at most ${formatPercent(strongest)}; it aborts at most ${errs} of such runs.`;
      case 'all reports':
        return `All delivery reports are in, and the shares were compared with their limits: ${found} "Probably" errs in at most ${errs} of runs.`;
      case 'time':
        return `After ${time}, the shares were compared with their limits: ${found} "Probably" errs in at most ${errs} of runs.`;
      case 'operator':
        return `After ${time}: ${found}`;
    }
  },
);

const guardTest = reasonKind<GuardTest>(
  { name: text, evidence: number, needed: number, errorRate: number },
  ({ name, evidence, needed, errorRate }) =>
    ` Its test (${name}) has the evidence ${evidence.toFixed(1)} and needs ${needed.toFixed(1)}, which healthy runs reach in at most ${formatPercent(errorRate)} of cases.`,
);

const guard = reasonKind<GuardRecord>(
  { reason: isGuardReason, test: orNull(guardTest.holds) },
  ({ reason, test }) =>
    `The guard found: ${watchReasonKinds[reason.kind].words(reason)}.${test === null ? '' : guardTest.words(test)}`,
);

const measureWords: Readonly<Record<WinnerMeasure, string>> = {
  delivered: 'undelivered',
  replied: 'replied',
  optedOut: 'opted out',
};

const variant = reasonKind<ComparedVariant>(
  { name: text, events: number, trials: number },
  ({ name, events, trials }) => `"${name}" ${events} of ${trials}`,
);

const winner = reasonKind<WinnerRecord>(
  {
    cause: oneOf(['evidence', 'time', 'operator']),
    by: oneOf(winnerMeasures),
    alpha: number,
    minEvents: number,
    observedMs: number,
    variants: (value): value is WinnerRecord['variants'] =>
      Array.isArray(value) && value.every(variant.holds),
    sends: textOrNull,
  },
  ({ cause, by, alpha, observedMs, variants, sends }) => {
    const found = `${variants.map(variant.words).join(', ')} ${measureWords[by]}.`;
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

function wholeSeconds(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000);
  return seconds === 0 ? '0s' : formatDuration(seconds * 1_000);
}

/** What is recorded of each kind. */
const records: Readonly<Record<DecisionKind, ReasonKind<unknown>>> = {
  'canary promoted': canary,
  'canary aborted': canary,
  'canary waits': canary,
  'guard stopped': guard,
  'guard warned': guard,
  winner,
  'no winner': winner,
};
