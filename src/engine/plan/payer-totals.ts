import type { CostTotal } from '../../campaign/cost.ts';
import type { Tariffs } from '../../campaign/tariffs.ts';
import type { Envelope } from '../../domain/message.ts';

type Total = { -readonly [Key in keyof CostTotal]: CostTotal[Key] };

/** The totals of one SubAccount and ChargeCode, by tariff. */
export type PayerTotal = Map<number, Total>;

export function createPayerTotals({ tariffIndexOf }: Pick<Tariffs, 'tariffIndexOf'>) {
  const byPayer = new Map<string, PayerTotal>();
  return {
    totalOf({ fields }: Envelope): PayerTotal {
      const payer = JSON.stringify([fields['SubAccount'] ?? null, fields['ChargeCode'] ?? null]);
      const total = byPayer.get(payer) ?? new Map<number, Total>();
      byPayer.set(payer, total);
      return total;
    },
    add(payerTotal: PayerTotal, { fields }: Envelope, address: string, parts: number | null): void {
      const tariffIndex = tariffIndexOf?.(address) ?? 0;
      let total = payerTotal.get(tariffIndex);
      if (total === undefined) {
        const { SubAccount: subAccount = null, ChargeCode: chargeCode = null } = fields;
        total = { subAccount, chargeCode, tariffIndex, recipients: 0, parts: null, example: null };
        payerTotal.set(tariffIndex, total);
      }
      total.recipients++;
      if (parts !== null) total.parts = (total.parts ?? 0) + parts;
      // The smallest text, which Postgres chooses for a run too.
      if (tariffIndexOf && (total.example === null || address < total.example)) total.example = address;
    },
    list: (): readonly CostTotal[] => [...byPayer.values()].flatMap((total) => [...total.values()]),
  };
}
