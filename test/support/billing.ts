import type pg from 'pg';
import {
  type BillingDimension,
  type BillingLine,
  type BillingQuery,
  type BillingTotal,
  reportBilling,
} from '../../src/ledger/billing/report.ts';
import { inTransaction } from '../../src/ledger/session.ts';

/** Everything, whenever it was sent. */
export const allBilling: BillingQuery = { by: [], from: null, until: null, timeZone: 'UTC', filter: {} };

/** What runs came to, and their total; undefined where they came to nothing. */
export async function billingOf(
  pool: pg.Pool,
  runs: readonly string[],
  by: readonly BillingDimension[] = [],
): Promise<{ readonly lines: readonly BillingLine[]; readonly total: BillingTotal | undefined }> {
  const query = { ...allBilling, by, filter: { run: runs } };
  const { lines, totals } = await inTransaction(pool, (client) => reportBilling(client, query));
  return { lines, total: totals[0] };
}
