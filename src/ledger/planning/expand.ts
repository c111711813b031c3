import type pg from 'pg';
import { insertBillingSlices } from '../billing/changes.ts';
import { storeRunFiles } from '../runs/run-files.ts';
import { inTransactionOf, type Transaction } from '../session.ts';
import { planSlices, type SliceableRange } from '../slices/plan.ts';
import type { HashKey } from '../suppressions/hash.ts';
import { insertWatch } from '../watch/watches.ts';
import { isCanary } from './canary.ts';
import { decideContacts } from './decide.ts';
import {
  insertContactFiles,
  insertContents,
  insertEnvelopes,
  insertOrigins,
  insertRejectedContacts,
  insertRun,
} from './insert-run.ts';
import type { PlannedRun } from './planned-run.ts';
import { lockCaps } from './remove-capped.ts';
import { insertKeys } from './remove-duplicates.ts';
import { lockLineage } from './remove-reached.ts';
import { dropStagingTables } from './staging-tables.ts';
import { insertWindows } from './windows.ts';

/**
 * Turns the staged contacts of this session into a planned run: decides them, and writes what is sent. It is one
 * transaction: a crash leaves no run. A failure leaves it open, so the caller closes the session.
 *
 * @param hashKey key of hashed suppressions
 */
export async function expandRun(
  session: pg.ClientBase,
  run: PlannedRun,
  hashKey: HashKey | null = null,
): Promise<void> {
  await inTransactionOf(session, (client) => expand(client, run, hashKey));
}

async function expand(client: Transaction, run: PlannedRun, hashKey: HashKey | null): Promise<void> {
  if (run.sourceRun !== null || run.origins.length > 0) await lockLineage(client, run.campaign);
  await lockCaps(client, run);
  const decided = await decideContacts(client, run, { hashKey });
  await run.checkPlan(client, decided);
  const windowed = run.window !== undefined;
  await insertRun(client, run, decided);
  if (windowed) await insertWindows(client, run.run);
  await insertOrigins(client, run);
  await insertContactFiles(client, run);
  await insertRejectedContacts(client, run);
  await insertEnvelopes(client, run);
  await planSlices(client, run.run, await sliceableRanges(client), run.firstRequests);
  if (run.isWatched) await insertWatch(client, run.run);
  await insertContents(client, run);
  await insertKeys(client, run);
  await insertBillingSlices(client, run.run);
  await run.enqueue(client);
  await storeRunFiles(client, run.run, run.files);
  await run.complete?.(client);
  await dropStagingTables(client);
}

async function sliceableRanges(client: Transaction): Promise<SliceableRange[]> {
  const { rows } = await client.query<SliceableRange>(`
    SELECT window_index AS "windowIndex", ${isCanary('staged')} AS "isCanary", variant,
           min(requests_before) + 1 AS first, max(requests_before + requests) AS last
    FROM sized_envelopes
    GROUP BY 1, 2, 3
    ORDER BY first
  `);
  return rows;
}
