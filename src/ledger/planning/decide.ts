import { restNumber } from '../../domain/contacts.ts';
import type { CostTotal } from '../../domain/rate-card.ts';
import { controlGroupColumn, type ReachedContacts } from '../../domain/rejected-contacts.ts';
import type { Transaction } from '../session.ts';
import type { HashKey } from '../suppressions/hash.ts';
import { isCanary, readPlannedCanary, selectCanary } from './canary.ts';
import { countContacts, listCapped, listRepeated, listSuppressedReasons } from './count-contacts.ts';
import {
  type BeyondLimit,
  type Decided,
  type FrequencyCap,
  hasTariffs,
  type PlanRules,
} from './planned-run.ts';
import { removeBeyondDailyLimit, removeCapped } from './remove-capped.ts';
import { handleDuplicates } from './remove-duplicates.ts';
import { findAncestors, findRelatives, removeReached, toComparedRuns } from './remove-reached.ts';
import { removeListed, removeSuppressed } from './remove-suppressed.ts';
import { pathsOfOther } from './staging-tables.ts';
import { numberWindows } from './windows.ts';

/** What a plan needs to read the ledger: the key of hashed suppressions. */
export type ReadLedger = { readonly hashKey: HashKey | null };

/**
 * Decides which staged contacts of this session are sent, and in which requests: removes suppressed, reached and
 * duplicate contacts, groups recipients by envelope and numbers requests in file order. A plan and a run are decided here.
 * It reads the ledger and changes only temporary tables, so it can run in a read-only transaction.
 *
 * @param ledger null: there is none, so only the campaign's own suppression lists apply
 */
export async function decideContacts(
  client: Transaction,
  rules: PlanRules,
  ledger: ReadLedger | null,
): Promise<Decided> {
  // With the default of 4 MiB, sorting a million rows would go to disk.
  await client.query("SET LOCAL work_mem = '256MB'; SET LOCAL jit = off");
  await mergeEnvelopes(client);
  await removeListed(client, rules);
  const capsOf = (kind: FrequencyCap['kind']): FrequencyCap[] =>
    ledger === null ? [] : rules.frequencyCaps.filter((cap) => cap.kind === kind);
  if (ledger) await removeSuppressed(client, rules, ledger.hashKey);
  await removeCapped(client, rules, capsOf('sent_recently'));
  const reached = await removeReachedByRelatives(client, rules);
  await handleDuplicates(client, rules);
  // Each row that is left would be a message.
  await removeCapped(client, rules, capsOf('over_frequency'));
  if (rules.variants) await removeControlGroup(client, rules.variants);
  const rest = rules.variants?.hasRest ? await sumBillingByTariff(client, `variant = ${restNumber}`) : [];
  const beyondLimit = await cutForLaterRun(client, rules);
  if (ledger) await removeBeyondDailyLimit(client, rules);
  if (rules.canary) await selectCanary(client, rules.canary);
  await numberWindows(client, rules.window);
  await sizeEnvelopes(client, rules);
  const totals = hasTariffs(rules) ? await sumBillingByTariff(client) : await sumBilling(client);
  const counts = await countContacts(client, beyondLimit?.contacts ?? null);
  return {
    ...counts,
    totals,
    rest,
    beyondLimit,
    canary: rules.canary ? await readPlannedCanary(client) : null,
    reached,
    repeated: await listRepeated(client, rules.identity),
    capped: counts.contacts.suppressed === 0 ? [] : await listCapped(client),
    suppressedReasons:
      counts.contacts.suppressed === 0 ? [] : await listSuppressedReasons(client, rules.channel),
  };
}

/** Merges equal envelopes that were staged twice in the same window. */
async function mergeEnvelopes(client: Transaction): Promise<void> {
  await client.query(`
    -- Sorts only envelopes that may have an equal one: few.
    WITH alike AS (
      SELECT DISTINCT hashtextextended(fields, 0) AS hash
      FROM staged_envelopes
      WHERE maybe_repeated
    )
    INSERT INTO merged_envelopes (envelope, first)
    SELECT envelope, first
    FROM (
      SELECT envelope, min(envelope) OVER (PARTITION BY fields, other_fields, zones, variant) AS first
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
  { recipientColumn, channel, identity, sourceRun, origins }: PlanRules,
): Promise<readonly ReachedContacts[]> {
  const sources = sourceRun === null ? origins : [sourceRun];
  if (sources.length === 0) return [];
  const relatives = await findRelatives(client, sources);
  const chosen = sourceRun === null ? [] : await findAncestors(client, sourceRun);
  const relativesToCompare = relatives.filter(({ run }) => !chosen.includes(run));
  return removeReached(client, recipientColumn, channel, toComparedRuns(relativesToCompare, identity));
}

/** Counts recipients of each envelope, and requests and recipients before its first. Variants follow each other. */
async function sizeEnvelopes(
  client: Transaction,
  { chunkSize, window, variants }: Pick<PlanRules, 'chunkSize' | 'window' | 'variants'>,
): Promise<void> {
  const isDivided = window !== undefined || variants !== undefined;
  const order = isDivided ? `window_index, NOT ${isCanary('staged')}, variant, staged` : 'staged';
  await client.query(
    `
    INSERT INTO sized_envelopes
    SELECT staged, row_number() OVER (ORDER BY ${order}), recipients, parts, requests,
           sum(requests) OVER (ORDER BY ${order}) - requests,
           sum(recipients) OVER (ORDER BY ${order}) - recipients, ${isDivided ? 'window_index, variant' : 'NULL, NULL'}
    FROM (
      -- Sums of bigints take ten times as long.
      SELECT envelope AS staged, CAST(count(*) AS integer) AS recipients, sum(parts) AS parts,
             CAST((count(*) + $1::integer - 1) / $1::integer AS integer) AS requests
      FROM staged_contacts
      GROUP BY envelope
    ) counted
    ${isDivided ? 'JOIN (SELECT envelope AS staged, window_index, variant FROM staged_envelopes LEFT JOIN staged_windows USING (zones)) w USING (staged)' : ''}
    `,
    [chunkSize],
  );
  await client.query('ANALYZE sized_envelopes');
}

async function sumBilling(client: Transaction): Promise<CostTotal[]> {
  const { rows } = await client.query<CostTotal>(`
    SELECT e.sub_account AS "subAccount", e.charge_code AS "chargeCode", 0 AS "tariffIndex",
           sum(z.recipients)::integer AS recipients, sum(z.parts)::float8 AS parts, NULL AS example
    FROM sized_envelopes z
    JOIN staged_envelopes e ON e.envelope = z.staged
    GROUP BY 1, 2
    ORDER BY 1, 2
  `);
  return rows;
}

/** @param condition SQL of the staged contacts and envelopes to add up */
async function sumBillingByTariff(client: Transaction, condition = 'true'): Promise<CostTotal[]> {
  const { rows } = await client.query<CostTotal>(`
    SELECT e.sub_account AS "subAccount", e.charge_code AS "chargeCode", coalesce(s.tariff, 0) AS "tariffIndex",
           count(*)::integer AS recipients, sum(s.parts)::float8 AS parts, min(s.address) AS example
    FROM staged_contacts s
    JOIN staged_envelopes e USING (envelope)
    WHERE ${condition}
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
  `);
  return rows;
}

/** Leaves out the control group. All that would be left out anyway is removed before, so it is like the recipients. */
async function removeControlGroup(
  client: Transaction,
  { control }: NonNullable<PlanRules['variants']>,
): Promise<void> {
  await client.query(
    `
    WITH taken_out AS (
      DELETE FROM staged_contacts s
      USING staged_envelopes e
      WHERE e.envelope = s.envelope AND e.variant = $1::integer
      RETURNING s.line
    )
    INSERT INTO left_out (line, column_name, reason, kind)
    SELECT line, $2, 'suppressed', 'control_group'
    FROM taken_out
    `,
    [control ?? null, controlGroupColumn],
  );
}

/**
 * Removes contacts of a later run: those after the first ones in file order, or those that wait for the winner. Rejected
 * contacts are removed before, so all that are left would be recipients.
 *
 * @returns what was removed; null: there is no later run
 */
async function cutForLaterRun(
  client: Transaction,
  { limit, variants }: Pick<PlanRules, 'limit' | 'variants'>,
): Promise<BeyondLimit | null> {
  if (limit === undefined && !variants?.hasRest) return null;
  const { rows } = await client.query<BeyondLimit>(
    `
    WITH cut AS MATERIALIZED (
      DELETE FROM staged_contacts
      WHERE $1::integer IS NOT NULL AND line > (SELECT line FROM staged_contacts ORDER BY line OFFSET $1 - 1 LIMIT 1)
         OR $2 AND envelope IN (SELECT envelope FROM staged_envelopes WHERE variant = ${restNumber})
      RETURNING envelope
    ), other AS (
      SELECT CAST(other_fields AS jsonb) AS fields
      FROM staged_envelopes
      WHERE other_fields IS NOT NULL AND envelope IN (SELECT envelope FROM cut)
    )
    SELECT (SELECT count(*)::integer FROM cut) AS contacts,
           ARRAY(${pathsOfOther}) AS files
    `,
    [limit ?? null, variants?.hasRest === true],
  );
  return rows[0] ?? { contacts: 0, files: [] };
}
