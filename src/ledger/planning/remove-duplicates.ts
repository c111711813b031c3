import { isKeyed } from '../../domain/contacts.ts';
import { batchOf } from '../batch.ts';
import { comparedAddress } from '../compared-address.ts';
import type { Transaction } from '../session.ts';
import type { PlannedRun, PlanRules } from './planned-run.ts';
import { stagedAddress } from './remove-suppressed.ts';

/**
 * Removes all but the first of equal contacts. Where duplicates are allowed, equal addresses go to different
 * requests: a delivery report identifies a recipient by MessageID and address. A rerun has no duplicates.
 */
export async function handleDuplicates(client: Transaction, rules: PlanRules): Promise<void> {
  const { identity, sourceRun } = rules;
  if (sourceRun === null && identity.duplicates !== 'allow') await removeDuplicates(client, rules);
  if (isKeyed(identity)) await separateEqualAddresses(client, rules);
}

const fileColumns = batchOf<PlanRules['contactFiles'][number]>({
  name: ['text', ({ name }) => name],
  lines_before: ['integer', ({ linesBefore }) => linesBefore],
});

async function removeDuplicates(
  client: Transaction,
  { recipientColumn, contactFiles, channel, identity: { key } }: PlanRules,
): Promise<void> {
  const same = key.length > 0 ? 's.key' : stagedAddress(channel);
  // As a table, so that the planner knows how few there are.
  await client.query(`
    INSERT INTO repeated_contacts (row, line, first_line, differs)
    SELECT row, line, first_line, differs
    FROM (
      SELECT row, line, first_value(line) OVER same_contact AS first_line,
             (envelope, destination, compared) IS DISTINCT FROM (
               first_value(envelope) OVER same_contact,
               first_value(destination) OVER same_contact,
               first_value(compared) OVER same_contact
             ) AS differs
      FROM (
        SELECT s.ctid AS row, s.line, s.envelope, s.destination, ${comparedAddress('s.address')} AS compared, same
        FROM staged_contacts s
        JOIN (SELECT DISTINCT ${same} AS same FROM staged_contacts s WHERE maybe_repeated) r ON ${same} = r.same
      ) AS repeated
      WINDOW same_contact AS (PARTITION BY same ORDER BY line)
    ) AS compared
    WHERE line > first_line;

    ANALYZE repeated_contacts;

    DELETE FROM staged_contacts WHERE ctid = ANY (ARRAY(SELECT row FROM repeated_contacts));
  `);
  // Reasons name a file only where there are several.
  const named = contactFiles.length > 1 ? contactFiles : [];
  await client.query(
    `
    WITH file_lines AS (
      SELECT name, lines_before, lead(lines_before) OVER (ORDER BY lines_before) AS lines_with
      FROM ${fileColumns.table('file', 2)}
    )
    INSERT INTO left_out (line, column_name, reason, kind, file, number, differs)
    SELECT line, $1, 'duplicate', 'same_contact', name, first_line - coalesce(lines_before, 0), differs
    FROM repeated_contacts
    LEFT JOIN file_lines ON first_line > lines_before AND (lines_with IS NULL OR first_line <= lines_with)
    `,
    [recipientColumn, ...fileColumns.values(named)],
  );
}

/** Moves repeated addresses of an envelope to copies of it. */
async function separateEqualAddresses(client: Transaction, { channel }: PlanRules): Promise<void> {
  await client.query(`
    INSERT INTO separated_contacts (line, envelope, copy)
    SELECT line, envelope,
           CAST((SELECT max(envelope) FROM staged_envelopes)
                + dense_rank() OVER (ORDER BY envelope, occurrence) AS integer) AS copy
    FROM (
      SELECT line, envelope, row_number() OVER (PARTITION BY envelope, ${stagedAddress(channel)} ORDER BY line) AS occurrence
      FROM staged_contacts s
    ) counted
    WHERE occurrence > 1;

    ANALYZE separated_contacts;

    INSERT INTO staged_envelopes (envelope, sub_account, department, charge_code, zones, fields, other_fields, variant)
    SELECT copy, sub_account, department, charge_code, zones, fields, other_fields, variant
    FROM (SELECT DISTINCT copy, envelope FROM separated_contacts) copies
    JOIN staged_envelopes USING (envelope);

    UPDATE staged_contacts s
    SET envelope = c.copy
    FROM separated_contacts c
    WHERE s.line = c.line;
  `);
}

/** Stores the keys of recipients; a rerun copies those of its source run. */
export async function insertKeys(
  client: Transaction,
  { run, sourceRun, identity }: PlannedRun,
): Promise<void> {
  if (!isKeyed(identity)) return;
  await client.query(
    sourceRun === null
      ? 'INSERT INTO recipient_keys (run_id, line, key) SELECT $1, line, key FROM staged_contacts'
      : `
        INSERT INTO recipient_keys (run_id, line, key)
        SELECT $1, line, k.key FROM staged_contacts JOIN recipient_keys k USING (line) WHERE k.run_id = $2
        `,
    sourceRun === null ? [run] : [run, sourceRun],
  );
}
