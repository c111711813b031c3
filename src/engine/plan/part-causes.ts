import { amountOf, estimateCost, sumParts } from '../../campaign/cost.ts';
import type { CostlyCharacters } from '../../domain/contact-notes.ts';
import type { CostTotal, RunRates } from '../../domain/rate-card.ts';
import type { PartCauses, PartCosts } from '../../domain/sms.ts';
import { totalRecipients } from '../../domain/variants.ts';

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
    add: (costly: CostlyCharacters, tariffIndex: number): void => {
      const totals = totalsOf(costly);
      const total = totals.get(tariffIndex) ?? { recipients: 0, parts: 0 };
      totals.set(tariffIndex, total);
      total.recipients++;
      total.parts += costly.partsMore;
    },
    /** @param at whose rates apply */
    found: (rates: RunRates | null, at: Date): PartCauses => {
      const costsOf = (...all: readonly Totals[]): PartCosts => {
        const totals = all.flatMap(toCostTotals);
        const parts = sumParts(totals, 'sms') ?? 0;
        return {
          recipients: totalRecipients(totals),
          parts,
          cost: amountOf(estimateCost(totals, 'sms', rates, at)),
        };
      };
      const sorted = [...groups.values()]
        .map(({ totals, ...group }) => ({ totals, shown: { ...group, ...costsOf(totals) } }))
        .sort((one, other) => other.shown.parts - one.shown.parts);
      const others = costsOf(...sorted.slice(maxShown).map(({ totals }) => totals), overflow);
      const { parts, cost } = costsOf(...sorted.map(({ totals }) => totals), overflow);
      return {
        parts,
        cost,
        currency: cost === null ? null : (rates?.currency ?? null),
        groups: sorted.slice(0, maxShown).map(({ shown }) => shown),
        others: others.recipients === 0 ? null : others,
      };
    },
  };
}

function toCostTotals(totals: Totals): CostTotal[] {
  return [...totals].map(([tariffIndex, total]) => {
    return { subAccount: null, chargeCode: null, tariffIndex, ...total, example: null };
  });
}
