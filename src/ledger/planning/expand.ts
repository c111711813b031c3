import type pg from 'pg';
import type { ReachedContacts } from '../../domain/rejected-contacts.ts';
import { insertBillingSlices } from '../billing/changes.ts';
import { storeRunFiles } from '../runs/run-files.ts';
import { inTransactionOf, type Transaction } from '../session.ts';
import { planSlices, type SliceableRange } from '../slices/plan.ts';
import type { HashKey } from '../suppressions/hash.ts';
import { countLeftOut } from './count-left-out.ts';
import { cutAtLimit } from './cut-at-limit.ts';
import { insertContents } from './insert-contents.ts';
import {
  insertContactFiles,
  insertEnvelopes,
  insertOrigins,
  insertRejectedContacts,
  insertRun,
} from './insert-run.ts';
import { type BillingTotal, hasTariffs, type PlannedRun } from './planned-run.ts';
import { handleDuplicates, insertKeys } from './remove-duplicates.ts';
import {
  findAncestors,
  findRelatives,
  lockLineage,
  removeReached,
  toComparedRuns,
} from './remove-reached.ts';
import { removeSuppressed } from './remove-suppressed.ts';
import { insertWindows, numberWindows, readWindowTotals } from './windows.ts';

/**
 * Turns the staged contacts of this session into a planned run: removes suppressed, reached and duplicate contacts,
 * groups recipients by envelope and numbers requests in file order. It is one transaction: a crash leaves no run. A
 * failure leaves it open, so the caller closes the session.
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
  // With the default of 4 MiB, sorting a million rows would go to disk.
  await client.query("SET LOCAL work_mem = '256MB'; SET LOCAL jit = off");
  await mergeEnvelopes(client);
  await client.query(
    `
    CREATE TEMPORARY TABLE left_out (
      line integer, column_name text, reason text, kind text, message text, related_run text, sub_account text, source text,
      file text, number bigint, differs boolean
    ) ON COMMIT DROP
    `,
  );
  await removeSuppressed(client, run, hashKey);
  const reached = await removeReachedByRelatives(client, run);
  await handleDuplicates(client, run);
  const beyondLimit = run.limit === undefined ? null : await cutAtLimit(client, run.limit);
  await numberWindows(client, run.window);
  const windowed = run.window !== undefined;
  await sizeEnvelopes(client, run.chunkSize, windowed);
  const totals = hasTariffs(run) ? await sumBillingByTariff(client) : await sumBilling(client);
  run.checkPlan(totals, { ...(await countLeftOut(client, run)), beyondLimit, reached });
  run.checkForecast?.(await readWindowTotals(client, windowed, maxLastRecipients));
  await insertRun(client, run, beyondLimit?.contacts ?? null);
  if (windowed) await insertWindows(client, run.run);
  await insertOrigins(client, run);
  await insertContactFiles(client, run);
  await insertRejectedContacts(client, run);
  await insertEnvelopes(client, run);
  await planSlices(client, run.run, await sliceableRanges(client), run.canary);
  await insertContents(client, run);
  await insertKeys(client, run);
  await insertBillingSlices(client, run.run);
  await run.enqueue(client);
  await storeRunFiles(client, run.run, run.files);
  await run.complete?.(client);
  await client.query(
    'DROP TABLE staged_contacts, staged_envelopes, staged_rejections, staged_suppressions, staged_pieces',
  );
}

const maxLastRecipients = 3;

/** Merges equal envelopes that were staged twice in the same window. */
async function mergeEnvelopes(client: Transaction): Promise<void> {
  await client.query(`
    CREATE TEMPORARY TABLE merged_envelopes ON COMMIT DROP AS
    -- Sorts only envelopes that may have an equal one: few.
    WITH alike AS (
      SELECT DISTINCT hashtextextended(fields, 0) AS hash
      FROM staged_envelopes
      WHERE maybe_repeated
    )
    SELECT envelope, first
    FROM (
      SELECT envelope, min(envelope) OVER (PARTITION BY fields, other_fields, zones) AS first
      FROM staged_envelopes
      JOIN alike ON hash = hashtextextended(fields, 0)
    ) compared
    WHERE envelope > first;

    ANALYZE merged_envelopes;

    UPDATE staged_contacts s
    SET envelope = m.first
    FROM merged_envelopes m
    WHERE s.envelope = m.envelope;
  `);
}

/**
 * Removes contacts that related runs reached: runs that this one was made from, and others made from those. In a
 * rerun, the selected states already cover its source run and that run's origins.
 *
 * @returns counts by run
 */
async function removeReachedByRelatives(
  client: Transaction,
  { recipientColumn, channel, campaign, identity, sourceRun, origins }: PlannedRun,
): Promise<readonly ReachedContacts[]> {
  const sources = sourceRun === null ? origins : [sourceRun];
  if (sources.length === 0) return [];
  await lockLineage(client, campaign);
  const relatives = await findRelatives(client, sources);
  const chosen = sourceRun === null ? [] : await findAncestors(client, sourceRun);
  const relativesToCompare = relatives.filter(({ run }) => !chosen.includes(run));
  return removeReached(client, recipientColumn, channel, toComparedRuns(relativesToCompare, identity));
}

/** Counts recipients of each envelope, and requests and recipients before its first. */
async function sizeEnvelopes(client: Transaction, chunkSize: number, windowed: boolean): Promise<void> {
  const order = windowed ? 'window_index, staged' : 'staged';
  await client.query(
    `
    CREATE TEMPORARY TABLE sized_envelopes (
      staged integer, envelope integer, recipients integer, parts bigint, requests integer, requests_before integer,
      recipients_before integer, window_index smallint
    ) ON COMMIT DROP
  `,
  );
  await client.query(
    `
    INSERT INTO sized_envelopes
    SELECT staged, row_number() OVER (ORDER BY ${order}), recipients, parts, requests,
           sum(requests) OVER (ORDER BY ${order}) - requests,
           sum(recipients) OVER (ORDER BY ${order}) - recipients, ${windowed ? 'window_index' : 'NULL'}
    FROM (
      -- Sums of bigints take ten times as long.
      SELECT envelope AS staged, CAST(count(*) AS integer) AS recipients, sum(parts) AS parts,
             CAST((count(*) + $1::integer - 1) / $1::integer AS integer) AS requests
      FROM staged_contacts
      GROUP BY envelope
    ) counted
    ${windowed ? 'JOIN (SELECT envelope AS staged, window_index FROM staged_envelopes JOIN staged_windows USING (zones)) w USING (staged)' : ''}
    `,
    [chunkSize],
  );
  await client.query('ANALYZE sized_envelopes');
}

async function sliceableRanges(client: Transaction): Promise<SliceableRange[]> {
  const { rows } = await client.query<SliceableRange>(`
    SELECT window_index AS "windowIndex", min(requests_before) + 1 AS first,
           max(requests_before + requests) AS last
    FROM sized_envelopes
    GROUP BY window_index
    ORDER BY first
  `);
  return rows;
}

async function sumBilling(client: Transaction): Promise<BillingTotal[]> {
  const { rows } = await client.query<BillingTotal>(`
    SELECT e.sub_account AS "subAccount", e.charge_code AS "chargeCode", 0 AS "tariffIndex",
           sum(z.recipients)::integer AS recipients, sum(z.parts)::float8 AS parts, NULL AS example
    FROM sized_envelopes z
    JOIN staged_envelopes e ON e.envelope = z.staged
    GROUP BY 1, 2
    ORDER BY 1, 2
  `);
  return rows;
}

async function sumBillingByTariff(client: Transaction): Promise<BillingTotal[]> {
  const { rows } = await client.query<BillingTotal>(`
    SELECT e.sub_account AS "subAccount", e.charge_code AS "chargeCode", s.tariff AS "tariffIndex",
           count(*)::integer AS recipients, sum(s.parts)::float8 AS parts, min(s.address) AS example
    FROM staged_contacts s
    JOIN staged_envelopes e USING (envelope)
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
  `);
  return rows;
}
