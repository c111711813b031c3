import type { WinnerMeasure } from '../domain/decisions.ts';
import { type Counts, compareShares } from './evidence.ts';

/** What is known of one variant that was sent. All figures are recipients. */
export type VariantCounts = {
  /** From 1. */
  readonly variant: number;
  readonly name: string;
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

export type WinnerRecord = {
  readonly by: WinnerMeasure;
  readonly test: string;
  /** The probability that a variant wins that is not better. */
  readonly alpha: number;
  readonly minEvents: number;
  readonly observedMs: number;
  /** Undelivered, replied or opted out, of those accepted. */
  readonly variants: readonly ({ readonly name: string } & Counts)[];
  /** The name of the variant that the rest gets; null: a person decides. */
  readonly sends: string | null;
};

export type WinnerDecision =
  | { readonly kind: 'open' }
  | { readonly kind: 'winner'; readonly variant: number; readonly record: WinnerRecord }
  /** `variant`: that the rest gets; null: a person decides. */
  | { readonly kind: 'no winner'; readonly variant: number | null; readonly record: WinnerRecord };

export const winnerAlpha = 0.01;
export const winnerMinEvents = 20;

/** What is counted, and whether more of it is better. Rare events say more than frequent ones: see `compareShares`. */
const measures: Readonly<
  Record<WinnerMeasure, { readonly events: (of: VariantCounts) => number; readonly moreIsBetter: boolean }>
> = {
  delivered: { events: ({ undelivered }) => undelivered, moreIsBetter: false },
  replied: { events: ({ replied }) => replied, moreIsBetter: true },
  optedOut: { events: ({ optedOut }) => optedOut, moreIsBetter: false },
};

/**
 * Decides whether a variant is better than each other one. Look only when all variants are sent.
 *
 * @param counts of each variant that is sent, in the order of the campaign
 */
export function decideWinner(
  { by, observe, otherwise }: WinnerRule,
  counts: readonly VariantCounts[],
  observedMs: number,
): WinnerDecision {
  const { events, moreIsBetter } = measures[by];
  const groups = counts.map((each) => ({
    variant: each.variant,
    name: each.name,
    events: events(each),
    trials: each.accepted,
  }));
  const pairs = (groups.length * (groups.length - 1)) / 2;
  const limits = { alpha: winnerAlpha / pairs, minEvents: winnerMinEvents };
  const beats = (one: Counts, other: Counts): boolean => {
    const found = compareShares([one, other], limits);
    return found.kind === 'greater' && found.which === (moreIsBetter ? 0 : 1);
  };
  const record = {
    by,
    test: 'mixture sequential test of each pair of shares, Bonferroni',
    alpha: winnerAlpha,
    minEvents: winnerMinEvents,
    observedMs,
    variants: groups.map(({ variant: _, ...group }) => group),
  };
  const winner = groups.find((one) => groups.every((other) => other === one || beats(one, other)));
  if (winner) return { kind: 'winner', variant: winner.variant, record: { ...record, sends: winner.name } };
  if (observedMs < observe) return { kind: 'open' };
  const first = otherwise === 'first' ? groups[0] : undefined;
  return {
    kind: 'no winner',
    variant: first?.variant ?? null,
    record: { ...record, sends: first?.name ?? null },
  };
}
