import type { Closing } from '../../ledger/billing/close.ts';
import { figureSql } from '../../ledger/billing/figures.ts';
import type { BillingLine, BillingTotal } from '../../ledger/billing/report.ts';
import { type RunFigures, runFigureNames } from '../../ledger/billing/run-costs.ts';
import { addAmounts } from '../../platform/money.ts';

/** Figures of several ledgers, added up exactly: counts are whole numbers, money and units decimal text. */

/** Adds up lines of the same names, in the order of a report of one ledger. */
export function addUpLines(lines: readonly BillingLine[]): BillingLine[] {
  const keyOf = ({ kind, values, correctionOf, currency }: BillingLine) => [
    kind,
    ...values,
    correctionOf,
    currency,
  ];
  const sums = addUp(lines, keyOf, (one, other) => addFields(one, other, billingFigures));
  return sums.toSorted((one, other) => compareKeys(keyOf(one), keyOf(other)));
}

export function addUpTotals(totals: readonly BillingTotal[]): BillingTotal[] {
  const keyOf = ({ kind, currency }: BillingTotal) => [kind, currency];
  const sums = addUp(totals, keyOf, (one, other) => ({
    ...addFields(one, other, billingFigures),
    corrections: one.corrections || other.corrections,
  }));
  return sums.toSorted((one, other) => compareKeys(keyOf(one), keyOf(other)));
}

/** One for each currency. */
export function addUpRuns(figures: readonly RunFigures[]): RunFigures[] {
  const sums = addUp(
    figures,
    ({ currency }) => [currency],
    (one, other) => addFields(one, other, runFigureNames),
  );
  return sums.toSorted((one, other) => compareKeys([one.currency], [other.currency]));
}

function addUp<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => readonly (string | null)[],
  add: (one: Row, other: Row) => Row,
): Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify(keyOf(row));
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? row : add(sum, row));
  }
  return [...sums.values()];
}

/** As Postgres orders them: texts by their characters, null last. */
function compareKeys(one: readonly (string | null)[], other: readonly (string | null)[]): number {
  for (const [index, name] of one.entries()) {
    const against = other[index] ?? null;
    if (name === against) continue;
    if (name === null || against === null) return name === null ? 1 : -1;
    return name < against ? -1 : 1;
  }
  return 0;
}

const billingFigures = Object.keys(figureSql);

/** Adds up the fields of these names: numbers, and decimal text. */
function addFields<Row extends object>(one: Row, other: Row, names: readonly string[]): Row {
  const others = new Map<string, unknown>(Object.entries(other));
  const sums = Object.entries(one)
    .filter(([name]) => names.includes(name))
    .map(([name, value]) => [name, addValues(value, others.get(name))]);
  return { ...one, ...Object.fromEntries(sums) };
}

function addValues(one: unknown, other: unknown): number | string {
  if (typeof one === 'number' && typeof other === 'number') return one + other;
  if (typeof one === 'string' && typeof other === 'string') return addAmounts(one, other);
  throw new Error(`"${one}" and "${other}" cannot be added up`);
}

/** The last closing, if every ledger has closed the period. */
export function closingOfAll(closings: readonly (Closing | undefined)[]): Closing | undefined {
  const [last] = closings
    .filter((closing) => closing !== undefined)
    .toSorted((one, other) => Number(other.closedAt) - Number(one.closedAt));
  return closings.includes(undefined) ? undefined : last;
}
