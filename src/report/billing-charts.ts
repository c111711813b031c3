import { Big } from 'big.js';
import type { RunKind } from '../domain/runs.ts';
import type { BillingDimension, BillingReport, BillingTotal } from '../ledger/billing/report.ts';
import { formatPayer } from './billing-sheet.ts';
import type { Chart } from './html/chart.ts';
import { createBarChart, createFunnelChart, createTimeChart } from './html/charts.ts';

/**
 * Charts of deliveries, days and costs, without tests. Without prices in delivery reports, the estimate is drawn.
 *
 * @param regroup the same figures by other dimensions
 */
export async function createBillingCharts(
  totals: readonly BillingTotal[],
  regroup: (by: readonly BillingDimension[]) => Promise<BillingReport>,
): Promise<Chart[]> {
  const ordinary = totals.filter(isOrdinary);
  const sum = (count: (total: BillingTotal) => number): number =>
    ordinary.reduce((all, total) => all + count(total), 0);
  const charts = [
    createFunnelChart('From recipients to deliveries', [
      { name: 'Recipients', count: sum(({ recipients }) => recipients) },
      { name: 'Accepted', count: sum(({ accepted }) => accepted) },
      { name: 'Delivered', count: sum(({ delivered }) => delivered) },
    ]),
    createTimeChart('Recipients by day', 'day', await countByDay(regroup)),
  ];
  for (const dimension of ['SubAccount', 'ChargeCode'] as const) {
    const { lines } = await regroup([dimension]);
    for (const { currency, price } of ordinary) {
      const what = new Big(price).eq(0) ? 'estimated' : 'price';
      const bars = lines
        .filter((line) => isOrdinary(line) && line.currency === currency)
        .map((line) => ({ name: formatPayer(line.values[0] ?? null), value: line[what] }));
      const name = what === 'price' ? 'Price' : 'Estimated cost';
      charts.push(createBarChart(`${name} by ${dimension}${currency === null ? '' : `, ${currency}`}`, bars));
    }
  }
  return charts;
}

/** Lines of one day, such as several currencies, become one count. */
async function countByDay(
  regroup: (by: readonly BillingDimension[]) => Promise<BillingReport>,
): Promise<{ at: string; count: number }[]> {
  const days = new Map<string, number>();
  for (const { values, recipients } of (await regroup(['day'])).lines.filter(isOrdinary)) {
    const [day] = values;
    if (day) days.set(day, (days.get(day) ?? 0) + recipients);
  }
  return [...days].map(([at, count]) => ({ at, count }));
}

function isOrdinary({ kind }: { readonly kind: RunKind }): boolean {
  return kind === 'ordinary';
}
