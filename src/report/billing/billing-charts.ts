import { Big } from 'big.js';
import type { RunKind } from '../../domain/runs.ts';
import type { BillingLine, BillingTotal } from '../../ledger/billing/report.ts';
import type { Chart } from '../html/chart.ts';
import {
  type BarOrder,
  createBarChart,
  createDateChart,
  createFunnelChart,
  createTimeChart,
} from '../html/charts.ts';
import { formatPayer } from './billing-words.ts';

/**
 * Charts of deliveries, days and costs, without tests. Without prices in delivery reports, the estimate is drawn.
 *
 * @param sums the lines by day, then those by each of the dimensions
 */
export function createBillingCharts(
  dimensions: readonly string[],
  totals: readonly BillingTotal[],
  [days = [], ...costs]: readonly (readonly BillingLine[])[],
  order?: BarOrder,
): Chart[] {
  const charts = dimensions.map((by, index) => createCostCharts(by, totals, costs[index] ?? [], order));
  return [createDeliveryChart(days, totals), createDayChart(days), ...charts.flat()];
}

/** Counts ordinary requests, without corrections, because these concern recipients of an earlier month. */
function createDeliveryChart(days: readonly BillingLine[], totals: readonly BillingTotal[]): Chart {
  const own = days.filter((line) => isOrdinary(line) && line.correctionOf === null);
  const sum = (figure: 'recipients' | 'accepted' | 'delivered'): number =>
    own.reduce((all, line) => all + line[figure], 0);
  const without = totals.some(({ corrections }) => corrections) ? ', without corrections' : '';
  return createFunnelChart(`From recipients to deliveries${without}`, [
    { name: 'Recipients', count: sum('recipients') },
    { name: 'Accepted', count: sum('accepted') },
    { name: 'Delivered', count: sum('delivered') },
  ]);
}

/** Counts of one day, such as of several currencies, become one. */
function createDayChart(days: readonly BillingLine[]): Chart {
  const counts = days
    .filter((line) => isOrdinary(line) && line.recipients !== 0)
    .flatMap(({ values: [day], recipients }) => (day ? [{ at: day, count: recipients }] : []));
  return createTimeChart('Recipients by day', 'day', counts);
}

type CostLine = Pick<BillingLine, 'kind' | 'values' | 'currency' | 'price' | 'estimated'>;

/**
 * A chart for each currency, of what costs anything.
 *
 * @param by of the first value of the lines
 */
export function createCostCharts(
  by: string,
  totals: readonly BillingTotal[],
  lines: readonly CostLine[],
  order?: BarOrder,
): Chart[] {
  return totals.filter(isOrdinary).flatMap(({ currency, price }) => {
    const what = new Big(price).eq(0) ? 'estimated' : 'price';
    const bars = lines
      .filter((line) => isOrdinary(line) && line.currency === currency && !new Big(line[what]).eq(0))
      .map((line) => ({ name: formatPayer(line.values[0] ?? null), value: line[what] }));
    const name = what === 'price' ? 'Price' : 'Estimated cost';
    if (bars.length === 0) return [];
    const title = `${name} by ${by}${currency === null ? '' : `, ${currency}`}`;
    const isDate = by === 'day' || by === 'month';
    return [isDate ? createDateChart(title, bars) : createBarChart(title, bars, undefined, order)];
  });
}

function isOrdinary({ kind }: { readonly kind: RunKind }): boolean {
  return kind === 'ordinary';
}
