import type { Closing } from '../ledger/billing/close.ts';
import type { BillingLine, BillingQuery, BillingReport, BillingTotal } from '../ledger/billing/report.ts';
import { createBillingCharts } from './billing-charts.ts';
import { type BillingSheetLine, billingSheet } from './billing-sheet.ts';
import type { Sheet } from './formats/sheet.ts';

type Streamed = {
  readonly lines: AsyncIterable<readonly BillingLine[]>;
  /** Known after the last line. */
  readonly totals: () => readonly BillingTotal[];
  readonly closing: Closing | undefined;
  readonly regroup: (by: BillingQuery['by']) => Promise<BillingReport>;
};

/** @param asOf replaced by the closing's time when the period is closed */
export async function createBillingReport(
  query: BillingQuery,
  { lines, totals, closing, regroup }: Streamed,
  asOf: Date,
): Promise<Sheet<BillingSheetLine>> {
  const { totals: expected } = await regroup([]);
  const charts = () => createBillingCharts(expected, regroup);
  return billingSheet(query, { lines, totals, expected, closing, charts }, closing?.closedAt ?? asOf);
}
