import { hash } from 'node:crypto';
import type { CostTotal } from '../campaign/cost.ts';
import type { Tariffs } from '../campaign/tariffs.ts';
import type { Envelope } from '../domain.ts';

/** Counts the recipients of a plan. */
export type PlanCounts = {
  /** @param parts SMS parts; null in other channels */
  readonly add: (envelope: Envelope, address: string, parts: number | null) => void;
  /** Recipients of each envelope. */
  readonly envelopeSizes: () => readonly number[];
  readonly totals: () => readonly CostTotal[];
};

type Total = { -readonly [Key in keyof CostTotal]: CostTotal[Key] };
type EnvelopeCount = {
  recipients: number;
  /** Of all envelopes with its SubAccount and ChargeCode, by tariff. */
  readonly totals: Map<number, Total>;
};

/** An envelope is known as an object; equal ones are told by their hash. */
export function countPlan({ placeOf }: Pick<Tariffs, 'placeOf'>): PlanCounts {
  const byHash = new Map<string, EnvelopeCount>();
  const known = new WeakMap<Envelope, EnvelopeCount>();
  const byPayer = new Map<string, Map<number, Total>>();

  const look = (envelope: Envelope): EnvelopeCount => {
    const key = hash('sha256', JSON.stringify(envelope), 'base64');
    const count = byHash.get(key) ?? { recipients: 0, totals: totalsOf(envelope) };
    byHash.set(key, count);
    known.set(envelope, count);
    return count;
  };
  const totalsOf = ({ fields }: Envelope): Map<number, Total> => {
    const payer = JSON.stringify([fields['SubAccount'] ?? null, fields['ChargeCode'] ?? null]);
    const totals = byPayer.get(payer) ?? new Map<number, Total>();
    byPayer.set(payer, totals);
    return totals;
  };
  return {
    add: (envelope, address, parts) => {
      const count = known.get(envelope) ?? look(envelope);
      count.recipients++;
      const tariff = placeOf?.(address) ?? 0;
      let total = count.totals.get(tariff);
      if (total === undefined) {
        const { SubAccount: subAccount = null, ChargeCode: chargeCode = null } = envelope.fields;
        total = { subAccount, chargeCode, tariff, recipients: 0, parts: null, example: null };
        count.totals.set(tariff, total);
      }
      total.recipients++;
      if (parts !== null) total.parts = (total.parts ?? 0) + parts;
      // The first in the order of texts, as Postgres finds it for a run.
      if (placeOf && (total.example === null || address < total.example)) total.example = address;
    },
    envelopeSizes: () => [...byHash.values()].map(({ recipients }) => recipients),
    totals: () => [...byPayer.values()].flatMap((totals) => [...totals.values()]),
  };
}
