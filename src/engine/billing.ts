import { bookPending } from '../ledger/billing/fold.ts';
import {
  type BillingLine,
  type BillingQuery,
  type BillingReport,
  type BillingTotal,
  reportBilling,
  streamBilling,
} from '../ledger/billing/report.ts';
import { inSession } from '../ledger/connection.ts';
import type { EngineContext } from './context.ts';

/** A billing report, all of it as of one moment. */
export type StreamedBilling = {
  readonly lines: AsyncIterable<readonly BillingLine[]>;
  /** Known after the last line. */
  readonly totals: () => readonly BillingTotal[];
  /** The same figures by other dimensions. */
  readonly regroup: (by: BillingQuery['by']) => Promise<BillingReport>;
};

/** Books what is not in the entries of billing yet, so that the next report has less to do. */
export async function bookBilling({ ledger }: EngineContext): Promise<void> {
  while ((await bookPending(ledger.pool)) > 0);
}

/** The billing report of whatever was committed before, in constant memory. */
export async function reportBillingLines<Result>(
  context: EngineContext,
  query: BillingQuery,
  use: (report: StreamedBilling) => Promise<Result>,
): Promise<Result> {
  await bookBilling(context);
  return inSession(context.ledger.pool, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    let totals: readonly BillingTotal[] = [];
    async function* lines(): AsyncGenerator<readonly BillingLine[], void, undefined> {
      totals = yield* streamBilling(client, query);
    }
    const regroup = (by: BillingQuery['by']): Promise<BillingReport> =>
      reportBilling(client, { ...query, by });
    const result = await use({ lines: lines(), totals: () => totals, regroup });
    await client.query('COMMIT');
    return result;
  });
}
