import type pg from 'pg';
import type { Channel, RunRates } from '../../domain.ts';
import { openBilling } from '../billing/blocks.ts';
import type { ContactFileRecord } from '../runs/contact-files.ts';
import { type FileSource, storeRunFiles } from '../runs/files.ts';
import { planSlices } from '../slices/plan.ts';
import type { HashKey } from '../suppressions/hash.ts';
import { comparedAddress, type FrequencyCap, leaveOutSuppressed } from './suppress.ts';

/** A run as it is to be planned from the staged contacts. */
export type PlannedRun = {
  readonly run: string;
  readonly campaign: string;
  readonly account: string;
  readonly channel: Channel;
  readonly definition: unknown;
  /** Random, at least 80 bits; MessageIDs are derived from it. */
  readonly messageKey: Buffer;
  readonly chunkSize: number;
  readonly recipientColumn: string;
  /** Addresses sent to a short time ago are left out, where there is one. */
  readonly frequencyCap: FrequencyCap | undefined;
  readonly contactFiles: readonly ContactFileRecord[];
  /** The run whose recipients this one sends to again; null for a run of contact files. */
  readonly sourceRun: string | null;
  readonly files: FileSource;
  /** Of its channel; null where the account has none. Of several tariffs, the staged contacts know which is theirs. */
  readonly rates: RunRates | null;
  /** So many requests are sent, and waited for, before any other; null: all alike. */
  readonly canary: number | null;
  /** Puts the first slices into the queue, in the same transaction. */
  readonly enqueue: (client: pg.PoolClient) => Promise<unknown>;
  /** Looks at what the run would be; when it throws, there is no run. */
  readonly approve: (totals: readonly BillingTotal[]) => void;
  readonly createdAt: Date;
};

/** Recipients of a run who are billed alike, by one tariff. `parts`: SMS parts, null in other channels. */
export type BillingTotal = {
  readonly subAccount: string | null;
  readonly chargeCode: string | null;
  /** The place of the tariff in the run's rates. */
  readonly tariff: number;
  readonly recipients: number;
  readonly parts: number | null;
  /** The first address in the order of texts; null where all recipients of the run have the same tariff. */
  readonly example: string | null;
};

/**
 * Turns the staged contacts of this session into a planned run, in one transaction: suppressed addresses and duplicates
 * are marked, recipients grouped by envelope and numbered into requests, in the order of the file. Before the commit
 * there is no run; after it, the contact files are no longer needed. A failure leaves the transaction open: the session
 * is to be closed.
 *
 * @param hashKey of suppressions that are known by their hashes
 */
export async function expandRun(
  client: pg.PoolClient,
  run: PlannedRun,
  hashKey: HashKey | null = null,
): Promise<void> {
  await client.query('BEGIN');
  // Sorting and hashing a million rows in Postgres's 4 MiB would go by way of the disk.
  await client.query("SET LOCAL work_mem = '256MB'; SET LOCAL jit = off");
  await mergeEnvelopes(client);
  await client.query(
    'CREATE TEMPORARY TABLE left_out (line integer, column_name text, reason text, detail text) ON COMMIT DROP',
  );
  await leaveOutSuppressed(client, run.recipientColumn, run.channel, run.frequencyCap, hashKey);
  await findDuplicates(client, run);
  await sizeEnvelopes(client, run.chunkSize);
  run.approve(hasTariffs(run) ? await totalByTariff(client) : await totalBilling(client));
  await insertRun(client, run);
  await insertContactFiles(client, run);
  await insertRejectedContacts(client, run);
  await insertRequests(client, run);
  await openBilling(client, run.run);
  await planSlices(client, run.run, run.canary);
  await run.enqueue(client);
  await storeRunFiles(client, run.run, run.files);
  await client.query(
    'DROP TABLE staged_contacts, staged_envelopes, staged_rejections, staged_suppressions, staged_pieces',
  );
  await client.query('COMMIT');
}

/** Equal envelopes that were staged under two numbers become the first of them. */
async function mergeEnvelopes(client: pg.PoolClient): Promise<void> {
  await client.query(`
    CREATE TEMPORARY TABLE merged_envelopes ON COMMIT DROP AS
    SELECT envelope, first
    FROM (
      SELECT envelope, min(envelope) OVER (PARTITION BY sha256(convert_to(content, 'UTF8'))) AS first
      FROM staged_envelopes
    ) compared
    WHERE envelope > first;

    ANALYZE merged_envelopes;

    UPDATE staged_contacts s
    SET envelope = m.first
    FROM merged_envelopes m
    WHERE s.envelope = m.envelope;
  `);
}

/** Of equal addresses the first stays, and the others are taken out. */
async function findDuplicates(
  client: pg.PoolClient,
  { recipientColumn, contactFiles, channel }: PlannedRun,
): Promise<void> {
  const address = comparedAddress(channel);
  // A table of its own, so that the planner knows how few they are.
  await client.query(`
    CREATE TEMPORARY TABLE repeated_addresses ON COMMIT DROP AS
    SELECT ${address} AS address, min(line) AS line
    FROM staged_contacts s
    GROUP BY 1
    HAVING count(*) > 1;

    ANALYZE repeated_addresses;
  `);
  await client.query(
    `
    WITH duplicates AS (
      DELETE FROM staged_contacts s
      USING repeated_addresses r
      WHERE ${address} = r.address AND s.line > r.line
      RETURNING s.line, r.line AS first_line
    ), places AS (
      SELECT name, lines_before, lead(lines_before) OVER (ORDER BY lines_before) AS lines_with
      FROM unnest($2::text[], $3::integer[]) AS file (name, lines_before)
    )
    INSERT INTO left_out
    SELECT line, $1, 'duplicate',
           'same address as ' || coalesce(name || ':' || first_line - lines_before, 'line ' || first_line)
    FROM duplicates
    LEFT JOIN places ON first_line > lines_before AND (lines_with IS NULL OR first_line <= lines_with)
    `,
    // The file is only named where there are several.
    contactFiles.length > 1
      ? [
          recipientColumn,
          contactFiles.map(({ name }) => name),
          contactFiles.map(({ linesBefore }) => linesBefore),
        ]
      : [recipientColumn, [], []],
  );
}

/** How many recipients each envelope has, and how many requests stand before its first. */
async function sizeEnvelopes(client: pg.PoolClient, chunkSize: number): Promise<void> {
  await client.query(
    `
    CREATE TEMPORARY TABLE sized_envelopes (
      staged integer, envelope integer, recipients integer, parts bigint, requests integer, requests_before integer
    ) ON COMMIT DROP
  `,
  );
  await client.query(
    `
    INSERT INTO sized_envelopes
    SELECT staged, row_number() OVER (ORDER BY staged), recipients, parts, requests,
           sum(requests) OVER (ORDER BY staged) - requests
    FROM (
      SELECT envelope AS staged, count(*) AS recipients, sum(parts) AS parts,
             (count(*) + $1::integer - 1) / $1::integer AS requests
      FROM staged_contacts
      GROUP BY envelope
    ) counted
    `,
    [chunkSize],
  );
  await client.query('ANALYZE sized_envelopes');
}

async function totalBilling(client: pg.PoolClient): Promise<BillingTotal[]> {
  const { rows } = await client.query<BillingTotal>(`
    SELECT e.sub_account AS "subAccount", e.charge_code AS "chargeCode", 0 AS tariff,
           sum(z.recipients)::integer AS recipients, sum(z.parts)::float8 AS parts, NULL AS example
    FROM sized_envelopes z
    JOIN staged_envelopes e ON e.envelope = z.staged
    GROUP BY 1, 2
    ORDER BY 1, 2
  `);
  return rows;
}

/** Whether the recipients differ in their tariffs. */
function hasTariffs({ rates }: Pick<PlannedRun, 'rates'>): boolean {
  return rates !== null && rates.tariffs.length > 1;
}

async function totalByTariff(client: pg.PoolClient): Promise<BillingTotal[]> {
  const { rows } = await client.query<BillingTotal>(`
    SELECT e.sub_account AS "subAccount", e.charge_code AS "chargeCode", s.tariff,
           count(*)::integer AS recipients, sum(s.parts)::float8 AS parts, min(s.address) AS example
    FROM staged_contacts s
    JOIN staged_envelopes e USING (envelope)
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
  `);
  return rows;
}

async function insertRun(client: pg.PoolClient, run: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at, source_run, rates,
                      contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
    SELECT $1, $2, $3, $4, 'planned', $5, $6, $7, $8, $9, kept.contacts + rejected.contacts,
           rejected.invalid, rejected.duplicate, rejected.suppressed
    FROM (SELECT coalesce(sum(recipients), 0) AS contacts FROM sized_envelopes) kept,
         (SELECT count(*) AS contacts,
                 count(*) FILTER (WHERE reason = 'invalid') AS invalid,
                 count(*) FILTER (WHERE reason = 'duplicate') AS duplicate,
                 count(*) FILTER (WHERE reason = 'suppressed') AS suppressed
          FROM (SELECT reason FROM staged_rejections UNION ALL SELECT reason FROM left_out) left_out) rejected
    `,
    [
      run.run,
      run.campaign,
      run.account,
      run.channel,
      JSON.stringify(run.definition),
      run.messageKey,
      run.createdAt,
      run.sourceRun,
      run.rates && JSON.stringify(run.rates),
    ],
  );
}

async function insertContactFiles(client: pg.PoolClient, { run, contactFiles }: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO contact_files (run_id, file, name, lines_before, encoding, delimiter, skip_lines, sha256)
    SELECT $1, place - 1, name, lines_before, encoding, delimiter, skip_lines, sha256
    FROM unnest($2::text[], $3::integer[], $4::text[], $5::text[], $6::integer[], $7::bytea[])
      WITH ORDINALITY AS file (name, lines_before, encoding, delimiter, skip_lines, sha256, place)
    `,
    [
      run,
      contactFiles.map(({ name }) => name),
      contactFiles.map(({ linesBefore }) => linesBefore),
      contactFiles.map(({ encoding }) => encoding),
      contactFiles.map(({ delimiter }) => delimiter),
      contactFiles.map(({ skipLines }) => skipLines),
      contactFiles.map(({ sha256 }) => sha256),
    ],
  );
  await client.query(
    `
    INSERT INTO contact_file_pieces (run_id, file, piece, data)
    SELECT $1, file, piece, data
    FROM staged_pieces
    `,
    [run],
  );
}

async function insertRejectedContacts(client: pg.PoolClient, { run }: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO rejected_contacts (run_id, line, column_name, reason, detail)
    SELECT $1, line, column_name, reason, detail
    FROM (TABLE staged_rejections UNION ALL TABLE left_out) AS rejected
    ORDER BY line
    `,
    [run],
  );
}

async function insertRequests(
  client: pg.PoolClient,
  { run, messageKey, chunkSize, rates }: PlannedRun,
): Promise<void> {
  await client.query(
    `
    INSERT INTO envelopes (run_id, envelope, fields, keypads, files, audio, sub_account, department, charge_code)
    SELECT $1, z.envelope, fields, e.keypads, e.files, e.audio,
           fields ->> 'SubAccount', fields ->> 'Department', fields ->> 'ChargeCode'
    FROM sized_envelopes z
    JOIN staged_envelopes s ON s.envelope = z.staged,
         jsonb_to_record(CAST(s.content AS jsonb)) AS e (fields jsonb, keypads jsonb, files jsonb, audio jsonb)
    ORDER BY z.envelope
    `,
    [run],
  );
  // A MessageID can only be told by who knows the run's key: 128 bits of SHA-256 over the key and the number.
  await client.query(
    `
    INSERT INTO requests (run_id, request, message_id, envelope, recipients)
    SELECT $1, request, left(encode(sha256($2::bytea || int4send(request)), 'hex'), 32), envelope,
           least($3, recipients - place * $3)
    FROM (
      SELECT requests_before + place + 1 AS request, envelope, recipients, place
      FROM sized_envelopes, generate_series(0, requests - 1) AS place
    ) numbered
    ORDER BY request
    `,
    [run, messageKey, chunkSize],
  );
  await client.query(
    `
    INSERT INTO chunks (run_id, request, lines, addresses, original_addresses, parts, tariffs, destinations)
    SELECT $1, requests_before + 1 + chunk, lines, addresses, original_addresses, c.parts, tariffs, destinations
    FROM (
      SELECT envelope, chunk, array_agg(line ORDER BY line) AS lines, array_agg(address ORDER BY line) AS addresses,
             array_agg(original_address ORDER BY line) AS original_addresses,
             array_agg(parts ORDER BY line) AS parts,
             ${hasTariffs({ rates }) ? 'array_agg(tariff ORDER BY line)' : 'CAST(NULL AS smallint[])'} AS tariffs,
             '[' || string_agg(destination, ',' ORDER BY line) || ']' AS destinations
      FROM (
        SELECT *,
               CAST(row_number() OVER (PARTITION BY envelope ORDER BY line) - 1 AS integer) / $2::integer AS chunk
        FROM staged_contacts
      ) numbered
      GROUP BY envelope, chunk
    ) c
    JOIN sized_envelopes z ON z.staged = c.envelope
    `,
    [run, chunkSize],
  );
}
