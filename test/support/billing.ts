import type pg from 'pg';
import {
  type BillingDimension,
  type BillingLine,
  type BillingQuery,
  type BillingTotal,
  reportBilling,
} from '../../src/ledger/billing/report.ts';
import { inTransaction } from '../../src/ledger/session.ts';

/** No filter, and no limit in time. */
export const allBilling: BillingQuery = { by: [], from: null, until: null, timeZone: 'UTC', filter: {} };

/** Undefined: nothing was billed. */
export async function billingOf(
  pool: pg.Pool,
  runs: readonly string[],
  by: readonly BillingDimension[] = [],
): Promise<{ readonly lines: readonly BillingLine[]; readonly total: BillingTotal | undefined }> {
  const query = { ...allBilling, by, filter: { run: runs } };
  const { lines, totals } = await inTransaction(pool, (client) => reportBilling(client, query));
  return { lines, total: totals[0] };
}
