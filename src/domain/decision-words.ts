import {
  type CanaryRecord,
  type ComparedShare,
  canaryFailures,
  type DecisionKind,
  decisionCauses,
} from './decisions.ts';
import { bareKind, number, oneOf, orNull, type ReasonKind, reasonKind, text } from './reason-kind.ts';
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
    const seconds = Math.round(observedMs / 1_000);
    const time = seconds === 0 ? '0s' : formatDuration(seconds * 1_000);
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

/** Not described yet. */
const unknownRecord = bareKind('');

/** What is recorded of each kind. */
const records: Readonly<Record<DecisionKind, ReasonKind<unknown>>> = {
  'canary promoted': canary,
  'canary aborted': canary,
  'canary waits': canary,
  'guard stopped': guard,
  'guard warned': guard,
  winner: unknownRecord,
  'no winner': unknownRecord,
};
