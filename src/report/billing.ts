import type { BillingLine, BillingReport } from '../ledger/billing/report.ts';
import { type Column, table } from './table.ts';

const columns: readonly Column<BillingLine>[] = [
  { title: 'SubAccount', value: ({ subAccount }) => subAccount ?? '(none)' },
  { title: 'ChargeCode', value: ({ chargeCode }) => chargeCode ?? '(none)' },
  { title: 'Requests', value: ({ requests }) => requests, align: 'right' },
  { title: 'Recipients', value: ({ recipients }) => recipients, align: 'right' },
  { title: 'Accepted', value: ({ accepted }) => accepted, align: 'right' },
  { title: 'Delivered', value: ({ delivered }) => delivered, align: 'right' },
  { title: 'Undelivered', value: ({ undelivered }) => undelivered, align: 'right' },
  { title: 'Unknown', value: ({ unknown }) => unknown, align: 'right' },
  { title: 'Units', value: ({ units }) => units, align: 'right' },
  { title: 'Price', value: ({ price }) => price, align: 'right' },
];

/** The billing report as a table; the last line is the total. */
export function billingText({ lines, total }: BillingReport): string {
  return table(columns, lines, { subAccount: 'Total', chargeCode: '', ...total });
}
