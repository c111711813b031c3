import { addAmounts } from '../platform/money.ts';
import type { CostLine } from './billing-charts.ts';

export type CostSums = {
  readonly add: (lines: readonly CostLine[]) => void;
  readonly lines: () => readonly CostLine[];
};

/**
 * Adds up the costs of lines with the same value, while the lines of a report pass by.
 *
 * @param index of the value
 */
export function createCostSums(index: number): CostSums {
  const sums = new Map<string, CostLine>();
  return {
    add(lines) {
      for (const { values, kind, currency, price, estimated } of lines) {
        const value = values[index] ?? null;
        const key = JSON.stringify([value, kind, currency]);
        const sum = sums.get(key);
        sums.set(key, {
          values: [value],
          kind,
          currency,
          price: addAmounts(price, sum?.price ?? '0'),
          estimated: addAmounts(estimated, sum?.estimated ?? '0'),
        });
      }
    },
    lines: () => [...sums.values()],
  };
}
