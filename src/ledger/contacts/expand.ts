import type pg from 'pg';
import type { Channel } from '../../domain.ts';
import { storeRunFiles } from '../runs/files.ts';

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
  /** The content of a file that an envelope refers to. */
  readonly readFile: (path: string) => Promise<Buffer>;
  readonly createdAt: Date;
};

/**
 * Turns the staged contacts of this session into a planned run, in one transaction: duplicates are marked, recipients
 * grouped by envelope and numbered into requests, in the order of the file. Before the commit there is no run; after
 * it, the contact file is no longer needed. A failure leaves the transaction open: the session is to be closed.
 */
export async function expandRun(client: pg.PoolClient, run: PlannedRun): Promise<void> {
  await client.query('BEGIN');
  await numberContacts(client, run.chunkSize);
  await insertRun(client, run);
  await insertRejectedContacts(client, run);
  await insertRequests(client, run);
  await storeRunFiles(client, run.run, run.readFile);
  await client.query('DROP TABLE staged_contacts');
  await client.query('COMMIT');
}

/** The first of equal addresses stays; equal envelopes share chunks; envelopes stand in the order of their first line. */
async function numberContacts(client: pg.PoolClient, chunkSize: number): Promise<void> {
  await client.query(`
    CREATE TEMPORARY TABLE numbered_contacts (
      line integer, first_line integer, envelope_line integer, envelope integer, request integer, position integer
    ) ON COMMIT DROP
  `);
  await client.query(
    `
    WITH compared AS (
      SELECT line, envelope, min(line) OVER (PARTITION BY address) AS first_line
      FROM staged_contacts
      WHERE reason IS NULL
    ), grouped AS (
      SELECT line, min(line) OVER (PARTITION BY envelope) AS envelope_line
      FROM compared
      WHERE line = first_line
    ), placed AS (
      SELECT line, envelope_line,
             dense_rank() OVER (ORDER BY envelope_line) AS envelope,
             row_number() OVER (PARTITION BY envelope_line ORDER BY line) - 1 AS place
      FROM grouped
    )
    INSERT INTO numbered_contacts
    SELECT line, line, envelope_line, envelope,
           dense_rank() OVER (ORDER BY envelope, place / $1::integer), place % $1::integer + 1
    FROM placed
    UNION ALL
    SELECT line, first_line, NULL, NULL, NULL, NULL
    FROM compared
    WHERE line > first_line
    `,
    [chunkSize],
  );
  await client.query('ANALYZE numbered_contacts');
}

async function insertRun(client: pg.PoolClient, run: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, created_at,
                      contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed)
    SELECT $1, $2, $3, $4, 'planned', $5, $6, $7,
           count(*), count(*) FILTER (WHERE reason = 'invalid'),
           (SELECT count(*) FROM numbered_contacts WHERE request IS NULL),
           count(*) FILTER (WHERE reason = 'suppressed')
    FROM staged_contacts
    `,
    [
      run.run,
      run.campaign,
      run.account,
      run.channel,
      JSON.stringify(run.definition),
      run.messageKey,
      run.createdAt,
    ],
  );
}

async function insertRejectedContacts(client: pg.PoolClient, run: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO rejected_contacts (run_id, line, column_name, reason, detail)
    SELECT $1, line, column_name, reason, detail
    FROM staged_contacts
    WHERE reason IS NOT NULL
    UNION ALL
    SELECT $1, line, $2, 'duplicate', 'same address as line ' || first_line
    FROM numbered_contacts
    WHERE request IS NULL
    `,
    [run.run, run.recipientColumn],
  );
}

async function insertRequests(client: pg.PoolClient, run: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO envelopes (run_id, envelope, fields, keypads, files, audio, sub_account, department, charge_code)
    SELECT $1, n.envelope, fields, e.keypads, e.files, e.audio,
           fields ->> 'SubAccount', fields ->> 'Department', fields ->> 'ChargeCode'
    FROM numbered_contacts n
    JOIN staged_contacts s USING (line),
         jsonb_to_record(CAST(s.envelope AS jsonb)) AS e (fields jsonb, keypads jsonb, files jsonb, audio jsonb)
    WHERE n.line = n.envelope_line
    `,
    [run.run],
  );
  // A MessageID can only be told by who knows the run's key: 128 bits of SHA-256 over the key and the number.
  await client.query(
    `
    INSERT INTO requests (run_id, request, message_id, envelope, recipients)
    SELECT $1, request, left(encode(sha256($2::bytea || int4send(request)), 'hex'), 32), envelope, count(*)
    FROM numbered_contacts
    WHERE request IS NOT NULL
    GROUP BY request, envelope
    `,
    [run.run, run.messageKey],
  );
  await client.query(
    `
    INSERT INTO recipients (run_id, request, position, line, address, original_address, destination)
    SELECT $1, n.request, n.position, n.line, s.address, s.original_address, s.destination::jsonb
    FROM numbered_contacts n
    JOIN staged_contacts s USING (line)
    WHERE n.request IS NOT NULL
    ORDER BY n.request, n.position
    `,
    [run.run],
  );
}
