import { type CostEstimate, estimateCost } from '../../campaign/cost.ts';
import type { CostlyCharacters } from '../../domain/contact-notes.ts';
import type { CostTotal, RunRates } from '../../domain/rate-card.ts';
import type { PartCauses, PartCosts } from '../../domain/sms.ts';

const maxShown = 20;
/** Names in many languages have many combinations of letters. Further ones are added up. */
const maxGroups = 1_000;

/** Totals by the index of their tariff. */
type Totals = Map<number, { recipients: number; parts: number }>;
type Group = Pick<CostlyCharacters, 'encoding' | 'causes'> & { readonly totals: Totals };

export function countPartCauses() {
  const groups = new Map<string, Group>();
  const overflow: Totals = new Map();
  const totalsOf = ({ encoding, causes }: CostlyCharacters): Totals => {
    const key = JSON.stringify([encoding, causes]);
    const found = groups.get(key);
    if (found) return found.totals;
    if (groups.size === maxGroups) return overflow;
    const totals: Totals = new Map();
    groups.set(key, { encoding, causes, totals });
    return totals;
  };
  return {
    /** @param costly of one recipient */
    add: (costly: readonly CostlyCharacters[], tariffIndex: number): void => {
      for (const found of costly) {
        const totals = totalsOf(found);
        const total = totals.get(tariffIndex) ?? { recipients: 0, parts: 0 };
        totals.set(tariffIndex, total);
        total.recipients++;
        total.parts += found.partsMore;
      }
    },
    /** @param at whose rates apply */
    found: (rates: RunRates | null, at: Date): PartCauses =>
      summarise([...groups.values()], overflow, (totals) =>
        estimateCost(totals.flatMap(toCostTotals), 'sms', rates, at),
      ),
  };
}

function summarise(
  groups: readonly Group[],
  overflow: Totals,
  estimate: (totals: readonly Totals[]) => CostEstimate,
): PartCauses {
  const costs = (totals: readonly Totals[]): PartCosts => {
    const estimated = estimate(totals);
    return { ...sum(totals), cost: estimated.kind === 'known' ? estimated.total : null };
  };
  const sorted = groups
    .map((group) => ({ ...group, parts: sum([group.totals]).parts }))
    .sort((one, other) => Number(isInValues(one)) - Number(isInValues(other)) || other.parts - one.parts);
  const rest = [...sorted.slice(maxShown).map(({ totals }) => totals), overflow];
  const all = [...groups.map(({ totals }) => totals), overflow];
  const { parts, cost } = costs(all);
  const whole = estimate(all);
  return {
    parts,
    cost,
    currency: whole.kind === 'known' ? whole.currency : null,
    groups: sorted
      .slice(0, maxShown)
      .map(({ encoding, causes, totals }) => ({ encoding, causes, ...costs([totals]) })),
    others: sum(rest).recipients === 0 ? null : costs(rest),
  };
}

function isInValues({ causes }: Group): boolean {
  return causes.some(({ column }) => column !== null);
}

function sum(all: readonly Totals[]): { recipients: number; parts: number } {
  const whole = { recipients: 0, parts: 0 };
  for (const totals of all) {
    for (const { recipients, parts } of totals.values()) {
      whole.recipients += recipients;
      whole.parts += parts;
    }
  }
  return whole;
}

function toCostTotals(totals: Totals): CostTotal[] {
  return [...totals].map(([tariffIndex, total]) => {
    return { subAccount: null, chargeCode: null, tariffIndex, ...total, example: null };
  });
}
