import { Big } from 'big.js';
import type { RunKind } from '../../domain/runs.ts';
import type {
  BillingDimension,
  BillingLine,
  BillingReport,
  BillingTotal,
} from '../../ledger/billing/report.ts';
import { addAmounts } from '../../platform/money.ts';
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
 * @param regroup the same figures by other dimensions
 */
export async function createBillingCharts(
  totals: readonly BillingTotal[],
  regroup: (by: readonly BillingDimension[]) => Promise<BillingReport>,
): Promise<Chart[]> {
  const { lines: ofDays } = await regroup(['day']);
  const days = ofDays
    .filter(isOrdinary)
    .flatMap(({ values: [day], recipients }) => (day ? [{ day, recipients }] : []));
  const charts = [createDeliveryChart(addDeliveries(noDeliveries, ofDays), totals), createDayChart(days)];
  for (const dimension of ['SubAccount', 'ChargeCode'] as const)
    charts.push(...createCostCharts(dimension, totals, (await regroup([dimension])).lines));
  return charts;
}

/** Counts ordinary requests, without corrections, because these concern recipients of an earlier month. */
export type Deliveries = Pick<BillingLine, 'recipients' | 'accepted' | 'delivered'>;

export const noDeliveries: Deliveries = { recipients: 0, accepted: 0, delivered: 0 };

export function addDeliveries(
  sum: Deliveries,
  lines: readonly (Deliveries & Pick<BillingLine, 'kind' | 'correctionOf'>)[],
): Deliveries {
  const own = lines.filter((line) => isOrdinary(line) && line.correctionOf === null);
  return own.reduce(
    (all, { recipients, accepted, delivered }) => ({
      recipients: all.recipients + recipients,
      accepted: all.accepted + accepted,
      delivered: all.delivered + delivered,
    }),
    sum,
  );
}

/** @param totals which have corrections too */
export function createDeliveryChart(
  { recipients, accepted, delivered }: Deliveries,
  totals: readonly BillingTotal[],
): Chart {
  const without = totals.some(({ corrections }) => corrections) ? ', without corrections' : '';
  return createFunnelChart(`From recipients to deliveries${without}`, [
    { name: 'Recipients', count: recipients },
    { name: 'Accepted', count: accepted },
    { name: 'Delivered', count: delivered },
  ]);
}

/** @param days counts of one day, such as of several currencies, become one */
export function createDayChart(
  days: readonly { readonly day: string; readonly recipients: number }[],
): Chart {
  const counts = days.map(({ day, recipients }) => ({ at: day, count: recipients }));
  return createTimeChart('Recipients by day', 'day', counts);
}

export type CostLine = Pick<BillingLine, 'kind' | 'values' | 'currency' | 'price' | 'estimated'>;

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

type CostSums = {
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
