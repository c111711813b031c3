import type { Decision, WinnerMeasure, WinnerRecord } from '../domain/decisions.ts';
import { type Counts, compareShares } from './evidence.ts';

/** What is known of one variant that was sent. All figures are recipients. */
export type VariantCounts = {
  /** From 1. */
  readonly variant: number;
  /** Null: erased. */
  readonly name: string | null;
  readonly accepted: number;
  readonly undelivered: number;
  readonly replied: number;
  readonly optedOut: number;
};

export type WinnerRule = {
  readonly by: WinnerMeasure;
  /** The most time, once all are sent; milliseconds. */
  readonly observe: number;
  /** Without a winner: the first variant, or a person decides. */
  readonly otherwise: 'first' | 'ask';
};

const winnerAlpha = 0.01;
const winnerMinEvents = 20;

/** What is counted, and whether more of it is better. Rare events say more than frequent ones: see `compareShares`. */
const measures: Readonly<
  Record<WinnerMeasure, { readonly events: (of: VariantCounts) => number; readonly moreIsBetter: boolean }>
> = {
  delivered: { events: ({ undelivered }) => undelivered, moreIsBetter: false },
  replied: { events: ({ replied }) => replied, moreIsBetter: true },
  optedOut: { events: ({ optedOut }) => optedOut, moreIsBetter: false },
};

/** What is recorded of a decision. @param counts of each variant that is sent, in the order of the campaign */
export function recordWinner(
  cause: WinnerRecord['cause'],
  { by }: Pick<WinnerRule, 'by'>,
  counts: readonly VariantCounts[],
  found: Pick<WinnerRecord, 'observedMs' | 'sends'>,
): WinnerRecord {
  const variants = counts.map((each) => ({ name: nameOf(each), ...countsOf(by, each) }));
  return { cause, by, alpha: winnerAlpha, minEvents: winnerMinEvents, variants, ...found };
}

/**
 * Variants are sent one after the other, so at first the earlier one has more reports and replies. After so many times as
 * long as sending took, that no longer makes a winner: of equal variants, less than 1 % have one (after three times as long,
 * up to half of them).
 */
const observedPerSending = 10;

/**
 * Decides whether a variant is better than each other one. Look only when all variants are sent.
 *
 * @param counts of each variant that is sent, in the order of the campaign
 * @param observedMs since all were sent
 * @param sendingMs how long sending them took
 * @returns undefined: not yet
 */
export function decideWinner(
  { by, observe, otherwise }: WinnerRule,
  counts: readonly VariantCounts[],
  { observedMs, sendingMs }: { readonly observedMs: number; readonly sendingMs: number },
): Decision | undefined {
  if (observedMs < Math.min(observe, observedPerSending * sendingMs)) return undefined;
  const pairs = (counts.length * (counts.length - 1)) / 2;
  const limits = { alpha: winnerAlpha / pairs, minEvents: winnerMinEvents };
  const beats = (one: VariantCounts, other: VariantCounts): boolean => {
    const found = compareShares([countsOf(by, one), countsOf(by, other)], limits);
    return found.kind === 'greater' && found.which === (measures[by].moreIsBetter ? 0 : 1);
  };
  const winner = counts.find((one) => counts.every((other) => other === one || beats(one, other)));
  if (winner) {
    const record = recordWinner('evidence', { by }, counts, { observedMs, sends: nameOf(winner) });
    return { kind: 'winner', record, rest: { variant: winner.variant } };
  }
  if (observedMs < observe) return undefined;
  const first = otherwise === 'first' ? counts[0] : undefined;
  const record = recordWinner('time', { by }, counts, { observedMs, sends: first ? nameOf(first) : null });
  return { kind: 'no winner', record, rest: { variant: first?.variant ?? null } };
}

function countsOf(by: WinnerMeasure, of: VariantCounts): Counts {
  return { events: measures[by].events(of), trials: of.accepted };
}

function nameOf({ name, variant }: VariantCounts): string {
  return name ?? `variant ${variant}`;
}
