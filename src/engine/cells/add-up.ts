import type { Closing } from '../../ledger/billing/close.ts';
import type { BillingFigures } from '../../ledger/billing/figures.ts';
import type { BillingLine, BillingTotal } from '../../ledger/billing/report.ts';
import type { RunFigures } from '../../ledger/billing/run-costs.ts';
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
  const sums = addUp(lines, keyOf, (one, other) => ({ ...one, ...addFigures(one, other) }));
  return sums.toSorted((one, other) => compareKeys(keyOf(one), keyOf(other)));
}

export function addUpTotals(totals: readonly BillingTotal[]): BillingTotal[] {
  const keyOf = ({ kind, currency }: BillingTotal) => [kind, currency];
  const sums = addUp(totals, keyOf, (one, other) => ({
    ...one,
    ...addFigures(one, other),
    corrections: one.corrections || other.corrections,
  }));
  return sums.toSorted((one, other) => compareKeys(keyOf(one), keyOf(other)));
}

/** One for each currency. */
export function addUpRuns(figures: readonly RunFigures[]): RunFigures[] {
  const sums = addUp(figures, ({ currency }) => [currency], addRunFigures);
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

function addFigures(one: BillingFigures, other: BillingFigures): BillingFigures {
  const counted = (figure: CountOf<BillingFigures>): number => one[figure] + other[figure];
  const amount = (figure: AmountOf<BillingFigures>): string => addAmounts(one[figure], other[figure]);
  return {
    requests: counted('requests'),
    recipients: counted('recipients'),
    accepted: counted('accepted'),
    failed: counted('failed'),
    unknown: counted('unknown'),
    delivered: counted('delivered'),
    undelivered: counted('undelivered'),
    reportedUnsent: counted('reportedUnsent'),
    notYetReported: counted('notYetReported'),
    smsParts: amount('smsParts'),
    faxPages: amount('faxPages'),
    voiceSeconds: amount('voiceSeconds'),
    emails: amount('emails'),
    expectedSmsParts: amount('expectedSmsParts'),
    price: amount('price'),
    estimated: amount('estimated'),
    estimatedTax: amount('estimatedTax'),
    difference: amount('difference'),
    unrated: counted('unrated'),
  };
}

type CountOf<Figures> = {
  [Key in keyof Figures]: Figures[Key] extends number ? Key : never;
}[keyof Figures];
type AmountOf<Figures> = {
  [Key in keyof Figures]: Figures[Key] extends string ? Key : never;
}[keyof Figures];

function addRunFigures(one: RunFigures, other: RunFigures): RunFigures {
  const counted = (figure: CountOf<RunFigures>): number => one[figure] + other[figure];
  const [accepted, delivered] = [counted('accepted'), counted('delivered')];
  return {
    contactsRead: counted('contactsRead'),
    contactsLeftOut: counted('contactsLeftOut'),
    requests: counted('requests'),
    recipients: counted('recipients'),
    accepted,
    delivered,
    undelivered: counted('undelivered'),
    failed: counted('failed'),
    unknown: counted('unknown'),
    deliveredShare: accepted === 0 ? null : (Math.round((1_000 * delivered) / accepted) / 10).toFixed(1),
    price: addAmounts(one.price, other.price),
    estimated: addAmounts(one.estimated, other.estimated),
    currency: one.currency,
  };
}

/** The last closing, if every ledger has closed the period. */
export function closingOfAll(closings: readonly (Closing | undefined)[]): Closing | undefined {
  const [last] = closings
    .filter((closing) => closing !== undefined)
    .toSorted((one, other) => Number(other.closedAt) - Number(one.closedAt));
  return closings.includes(undefined) ? undefined : last;
}
