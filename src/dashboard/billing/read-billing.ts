import { reportBillingLines } from '../../engine/billing/billing.ts';
import type { EngineContext } from '../../engine/context.ts';
import type { BillingDimension, BillingLine, BillingQuery } from '../../ledger/billing/report.ts';

/** A part of the lines of a report, the number of all, and the sums of all of them. */
export type BillingPart = Awaited<ReturnType<typeof readBilling>>;

/**
 * Reads the whole report and keeps a part of its lines, so totals are of all.
 *
 * @param first from 0
 * @param charted dimensions by which costs are added up
 */
export function readBilling(
  context: EngineContext,
  query: BillingQuery,
  {
    first,
    limit,
    charted,
  }: { readonly first: number; readonly limit: number; readonly charted: readonly BillingDimension[] },
) {
  return reportBillingLines(context, query, async ({ lines: batches, sumBy, ...report }) => {
    const lines: BillingLine[] = [];
    let count = 0;
    for await (const batch of batches) {
      lines.push(...batch.slice(Math.max(0, first - count), Math.max(0, first + limit - count)));
      count += batch.length;
    }
    return { ...report, lines, first, count, charted, sums: await sumBy(charted) };
  });
}
