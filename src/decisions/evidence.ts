/**
 * Sequential tests of shares, as pure functions of cumulative counts. Evidence is the logarithm of an e-value: while the
 * null hypothesis holds, the probability that it ever reaches x is at most e^-x (Ville's inequality, 1939). This is so for
 * all looks together, so a test may look as often as it likes, also only after batches, and stop at any look.
 *
 * All tests assume that recipients are independent of each other. A fault of a minute that decides about many recipients at
 * once is a change of their share, and is found. `test/torture/evidence.torture.ts` measures error rates.
 */

import { z } from 'zod';
import { memoize } from '../platform/memoize.ts';

/** Cumulative: how many trials there were, and in how many the event happened. */
export const storedCounts = z.object({ events: z.number(), trials: z.number() }).readonly();
export type Counts = z.output<typeof storedCounts>;

/** Counts of which some trials have no result yet, so that their event can still come. */
export type OpenCounts = Counts & { readonly open: number };

/** The evidence that one test needs, so that it errs with a probability of at most `alpha`. */
export function evidenceNeeded(alpha: number): number {
  return Math.log(1 / alpha);
}

/**
 * Evidence that the true share of events is above a limit.
 *
 * Test: mixture of likelihood ratios (Wald 1945, Robbins 1970) of alternatives that come nearer and nearer to the limit.
 * Guarantee: at a true share of at most `limit`, it ever reaches `evidenceNeeded(alpha)` with a probability of at most
 * `alpha`. It holds for late, early, bursty and unsorted reports too if `trials` counts all recipients that were accepted:
 * a report that is missing counts as no event, which can only reduce the evidence. It does not hold if `trials` counts only
 * recipients with a report, and reports of events come earlier than others.
 *
 * @param limit a share, from 0 to 1
 */
export function evidenceAbove(limit: number, counts: Counts): number {
  if (limit >= 1) return 0;
  return logMean(alternativesAbove(limit).map((alternative) => logRatio(alternative, counts)));
}

/** The lowest counts of a CUSUM: for each alternative, the look from which on its evidence is largest. */
export type Drift = { readonly starts: readonly Counts[] };

export type DriftLook = {
  /** To keep for the next look. */
  readonly drift: Drift;
  /** Compare it with `driftThreshold`. */
  readonly evidence: number;
  /** What happened since the share rose, as far as the counts show. */
  readonly since: Counts;
};

/** Of those of `evidenceAbove`, the ones that are far from the limit. */
const driftAlternatives = 4;

/**
 * Evidence that the share of events rose above a limit at any time, for one part of a run.
 *
 * Test: CUSUM (Page 1954, Lorden 1971) as an e-detector (Shin, Ramdas, Rinaldo 2023): the evidence since that former look
 * after which it is largest, as the mean over a few alternatives.
 * Guarantee: see `driftThreshold`. It holds for late and bursty reports too if `counts.trials` has all recipients that were
 * accepted and `counts.open` those without a report: of the trials before a look, as many as are open, and as the limit
 * permits, may become events after it without being evidence. So the more reports are missing, the later a change is found
 * in the middle of a run; from the beginning of a run it is found at once. It does not hold if `trials` counts only
 * recipients with a report, and reports of events come in bursts, or earlier than others.
 *
 * @param previous undefined at the first look
 * @param counts cumulative since the run began
 * @param limit a share, from 0 to below 1
 */
export function lookForDrift(
  previous: Drift | undefined,
  counts: OpenCounts,
  { limit, threshold }: { readonly limit: number; readonly threshold: number },
): DriftLook {
  const alternatives = alternativesAbove(limit).slice(0, driftAlternatives);
  const starts = previous?.starts ?? alternatives.map(() => ({ events: 0, trials: 0 }));
  const here = {
    events: counts.events + lateEvents(counts, limit, threshold),
    trials: counts.trials,
  };
  const evidences = alternatives.map((alternative, index) =>
    logRatio(alternative, minus(counts, starts[index])),
  );
  const strongest = evidences.indexOf(Math.max(...evidences));
  return {
    drift: {
      starts: alternatives.map((alternative, index) => {
        const start = starts[index];
        return start === undefined || logRatio(alternative, minus(here, start)) < 0 ? here : start;
      }),
    },
    evidence: logMean(evidences),
    since: minus(counts, starts[strongest]),
  };
}

/**
 * The threshold of `lookForDrift` for all parts of a run together.
 *
 * Guarantee: in a run of so many recipients, whose true shares never exceed their limits, any part ever reaches it with a
 * probability of at most `alpha`, however many parts there are: half of it for a start at each recipient, half for the
 * events that still come (`lateEvents`).
 */
export function driftThreshold(recipients: number, alpha: number): number {
  return evidenceNeeded(alpha / (2 * Math.max(1, recipients)));
}

/** The most events that can still come of these trials while the share is at most the limit. */
function lateEvents({ events, trials, open }: OpenCounts, limit: number, threshold: number): number {
  const isPossible = (late: number): boolean =>
    evidenceAbove(limit, { events: events + late, trials }) < threshold;
  if (open <= 0 || isPossible(open)) return Math.max(0, open);
  let [possible, tooMany] = [0, open];
  while (tooMany - possible > 1) {
    const middle = Math.floor((possible + tooMany) / 2);
    if (isPossible(middle)) possible = middle;
    else tooMany = middle;
  }
  return possible;
}

export type Comparison =
  | { readonly kind: 'greater'; readonly which: 0 | 1; readonly evidence: number }
  | { readonly kind: 'undecided'; readonly evidence: number }
  | { readonly kind: 'too few events' };

/**
 * Decides which of two groups has the greater share of events.
 *
 * Test: mixture sequential test of two shares (mSPRT: Robbins 1970; Johari, Koomen, Pekelis, Walsh 2017), exact by asking of
 * each event only in which group it happened (Lindon, Malek 2022). So count what is rare: undelivered recipients, not
 * delivered ones; an event of half of all recipients needs twice as many.
 * Guarantee: it ever names a group whose true share is not greater with a probability of at most `alpha`, also after
 * batches and with late reports. It does not hold if one group was sent to earlier than the other and its events are counted
 * before those of the other could come: look only when both were sent to and observed for as long.
 *
 * @param alpha for this pair; of several pairs, divide by their number (Bonferroni)
 * @param minEvents fewer events of both together decide nothing
 */
export function compareShares(
  groups: readonly [Counts, Counts],
  { alpha, minEvents }: { readonly alpha: number; readonly minEvents: number },
): Comparison {
  const [first, second] = groups;
  if (first.events + second.events < Math.max(1, minEvents)) return { kind: 'too few events' };
  if (first.trials === 0 || second.trials === 0) return { kind: 'undecided', evidence: 0 };
  const evidences = [evidenceOfGreater(first, second), evidenceOfGreater(second, first)] as const;
  const which = evidences[0] >= evidences[1] ? 0 : 1;
  const evidence = evidences[which];
  return evidence >= evidenceNeeded(alpha / 2)
    ? { kind: 'greater', which, evidence }
    : { kind: 'undecided', evidence };
}

/** While the shares are equal, an event is in a group as often as a trial is. */
function evidenceOfGreater(one: Counts, other: Counts): number {
  return evidenceAbove(one.trials / (one.trials + other.trials), {
    events: one.events,
    trials: one.events + other.events,
  });
}

/** A true share, as the logarithms of its likelihood ratios with a limit. */
type Alternative = { readonly ofEvent: number; readonly ofOther: number };

/** A single event proves that a share is not 0; a number that is nearly 0 keeps the evidence finite. */
const smallestLimit = 1e-9;

/** Shares above a limit: half of the way from it to 1, a quarter, an eighth … */
const alternativesAbove = memoize(
  (limit: number): readonly Alternative[] =>
    Array.from({ length: 12 }, (_, index) => {
      const share = limit + (1 - limit) / 2 ** (index + 1);
      return {
        ofEvent: Math.log(share / Math.max(limit, smallestLimit)),
        ofOther: Math.log((1 - share) / (1 - limit)),
      };
    }),
  1_000,
);

function logRatio({ ofEvent, ofOther }: Alternative, { events, trials }: Counts): number {
  return events * ofEvent + (trials - events) * ofOther;
}

/** The logarithm of the mean of e^value. */
function logMean(values: readonly number[]): number {
  const largest = Math.max(...values);
  const sum = values.reduce((total, value) => total + Math.exp(value - largest), 0);
  return largest + Math.log(sum / values.length);
}

function minus(counts: Counts, start: Counts = { events: 0, trials: 0 }): Counts {
  return { events: counts.events - start.events, trials: counts.trials - start.trials };
}
