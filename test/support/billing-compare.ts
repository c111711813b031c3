import { Big } from 'big.js';
import { expect } from 'vitest';
import type { BillingFigures } from '../../src/ledger/billing/figures.ts';
import type { BillingReport } from '../../src/ledger/billing/report.ts';
import type { Figures } from './billing-recount.ts';

export function expectLines(lines: BillingReport['lines'], counted: ReadonlyMap<string, Figures>): void {
  expect(comparable(lines)).toEqual(expected(counted));
}

/** Equal to a recount without dimensions. */
export function expectTotals(totals: BillingReport['totals'], counted: ReadonlyMap<string, Figures>): void {
  expect(comparable(totals.map((total) => ({ ...total, values: [] })))).toEqual(expected(counted));
}

type Line = BillingFigures & {
  readonly values: readonly (string | null)[];
  readonly currency: string | null;
};

/** By key; amounts without trailing zeros. */
function comparable(lines: readonly Line[]): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    lines.map(({ values, currency, ...figures }) => [
      JSON.stringify([...values, currency]),
      plain({
        ...figures,
        difference: undefined,
        kind: undefined,
        correctionOf: undefined,
        corrections: undefined,
      }),
    ]),
  );
}

function expected(lines: ReadonlyMap<string, Figures>): Record<string, Record<string, unknown>> {
  return Object.fromEntries([...lines].map(([key, figures]) => [key, plain({ ...figures })]));
}

function plain(figures: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(figures).flatMap(([key, value]) => {
      if (value === undefined) return [];
      return [[key, typeof value === 'number' ? value : new Big(String(value)).toFixed()]];
    }),
  );
}
