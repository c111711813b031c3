import type { AsOf } from '../../domain/replica.ts';
import { reportBillingLines, type StreamedBilling } from '../../engine/billing/billing.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { Closing } from '../../ledger/billing/close.ts';
import type { BilledDay, BillingLine, BillingQuery, BillingTotal } from '../../ledger/billing/report.ts';
import {
  addDeliveries,
  type CostLine,
  createCostSums,
  type Deliveries,
  noDeliveries,
} from '../../report/billing/billing-charts.ts';

/** A part of the lines of a report, and the sums of all of them. */
export type BillingPart = {
  readonly asOf: AsOf;
  /** The lines of this part of the report. */
  readonly lines: readonly BillingLine[];
  readonly first: number;
  /** Lines in all. */
  readonly count: number;
  readonly totals: readonly BillingTotal[];
  readonly closing: Closing | undefined;
  readonly costs: readonly CostLine[];
  readonly days: readonly BilledDay[];
  readonly deliveries: Deliveries;
};

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
): Promise<BillingPart> {
  const read = async (streamed: StreamedBilling): Promise<BillingPart> => {
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
