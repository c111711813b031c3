import { reportBillingLines, type StreamedBilling } from '../../engine/billing/billing.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { BillingLine, BillingQuery } from '../../ledger/billing/report.ts';
import { addDeliveries, createCostSums, noDeliveries } from '../../report/billing/billing-charts.ts';

/** A part of the lines of a report, the number of all, and the sums of all of them. */
export type BillingPart = Awaited<ReturnType<typeof readBilling>>;

/**
 * Reads the whole report and keeps a part of its lines, so totals are of all.
 *
 * @param first from 0
 * @param costsBy index of the dimension that costs are added up by
 */
export function readBilling(
  context: EngineContext,
  query: BillingQuery,
  { first, limit, costsBy }: { readonly first: number; readonly limit: number; readonly costsBy: number },
) {
  const read = async (streamed: StreamedBilling) => {
    const { asOf, lines: batches, totals, closing, days } = streamed;
    const lines: BillingLine[] = [];
    const costs = createCostSums(costsBy);
    let count = 0;
    let deliveries = noDeliveries;
    for await (const batch of batches) {
      lines.push(...batch.slice(Math.max(0, first - count), Math.max(0, first + limit - count)));
      costs.add(batch);
      deliveries = addDeliveries(deliveries, batch);
      count += batch.length;
    }
    const sums = { totals: totals(), costs: costs.lines(), days: days(), deliveries };
    return { asOf, lines, first, count, closing, ...sums };
  };
  return reportBillingLines(context, query, read, true);
}
