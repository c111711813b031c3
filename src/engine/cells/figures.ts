import { type Closing, findClosingOf } from '../../ledger/billing/close.ts';
import { figureSql } from '../../ledger/billing/figures.ts';
import {
  type BillingLine,
  type BillingQuery,
  type BillingReport,
  type BillingTotal,
  reportBilling,
} from '../../ledger/billing/report.ts';
import {
  type CampaignQuery,
  type CampaignRun,
  type RunFigures,
  runFigureNames,
  streamCampaignRuns,
  sumCampaignRuns,
} from '../../ledger/billing/run-costs.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { addAmounts } from '../../platform/money.ts';
import { findUnknown, type UnknownName } from '../billing/known-names.ts';
import type { EngineContext } from '../context.ts';

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

/** What one cell knows of the names that are asked for. A name is unknown if no cell has it. */
type Named = { readonly unknown: readonly UnknownName[] };

export type CellBilling = BillingReport & Named & { readonly closing: Closing | undefined };

/** The billing report of a cell, of one moment. In memory: about a kilobyte a line. */
export async function readCellBilling(context: EngineContext, query: BillingQuery): Promise<CellBilling> {
  const unknown = await findUnknown(context, query.filter);
  const { until, timeZone } = query;
  return inSnapshot(context.ledger.pool, async (client) => ({
    unknown,
    ...(await reportBilling(client, query)),
    closing: until === null ? undefined : await findClosingOf(client, until, timeZone),
  }));
}

type CellCampaigns = Named & { readonly runs: readonly CampaignRun[]; readonly sums: readonly RunFigures[] };

/** The runs of campaigns in a cell, newest first, of one moment. */
export async function readCellCampaigns(
  context: EngineContext,
  query: CampaignQuery,
): Promise<CellCampaigns> {
  const unknown = await findUnknown(context, { campaign: query.campaigns });
  return inSnapshot(context.ledger.pool, async (client) => {
    const runs: CampaignRun[] = [];
    for await (const batch of streamCampaignRuns(client, query)) runs.push(...batch);
    return { unknown, runs, sums: await sumCampaignRuns(client, query) };
  });
}
