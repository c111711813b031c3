import type pg from 'pg';
import { batchOf } from '../batch.ts';
import { insertBillingSlices } from '../billing/changes.ts';
import { recipientArrays } from '../request-rows.ts';
import { markPlanned } from '../run-states/transitions.ts';
import type { ContactFileRecord } from '../runs/contact-files.ts';
import { rejectionDetailColumns, stagedRejections } from '../runs/rejected-contacts.ts';
import { storeRunFiles } from '../runs/run-files.ts';
import { inTransactionOf, type Transaction } from '../session.ts';
import { rankOf } from '../slices/enqueue.ts';
import { planSlices, type SliceableRange } from '../slices/plan.ts';
import type { HashKey } from '../suppressions/hash.ts';
import { insertWatch } from '../watch/watches.ts';
import { isCanary } from './canary.ts';
import { decideContacts } from './decide.ts';
import { hasTariffs, type PlannedCounts, type PlannedRun } from './planned-run.ts';
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

async function insertRun(
  client: Transaction,
  run: PlannedRun,
  { contacts }: Pick<PlannedCounts, 'contacts'>,
): Promise<void> {
  await client.query(
    `
    INSERT INTO runs (run_id, campaign, account, channel, definition, message_key, created_at, source_run, rates, priority,
                      suppression_account, kind, contacts_read, contacts_invalid, contacts_duplicate, contacts_suppressed,
                      contacts_beyond_limit)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
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
      rankOf(run.priority),
      run.suppressionAccount ?? null,
      run.kind ?? 'ordinary',
      contacts.read,
      contacts.invalid,
      contacts.duplicate,
      contacts.suppressed,
      contacts.beyondLimit ?? null,
    ],
  );
  await markPlanned(client, run.run);
}

async function insertOrigins(client: Transaction, { run, origins }: PlannedRun): Promise<void> {
  if (origins.length === 0) return;
  await client.query('INSERT INTO run_origins (run_id, origin) SELECT $1, unnest($2::text[])', [
    run,
    origins,
  ]);
}

const fileColumns = batchOf<ContactFileRecord>({
  name: ['text', ({ name }) => name],
  lines_before: ['integer', ({ linesBefore }) => linesBefore],
  encoding: ['text', ({ encoding }) => encoding],
  delimiter: ['text', ({ delimiter }) => delimiter],
  sheet: ['text', ({ sheet }) => sheet],
  skip_lines: ['integer', ({ skipLines }) => skipLines],
  sha256: ['bytea', ({ sha256 }) => sha256],
});

async function insertContactFiles(client: Transaction, { run, contactFiles }: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO contact_files (run_id, file, ${fileColumns.columns})
    SELECT $1, number - 1, ${fileColumns.columns}
    FROM ${fileColumns.table('file', 2, 'number')}
    `,
    [run, ...fileColumns.values(contactFiles)],
  );
  await client.query(
    `
    INSERT INTO contact_file_pieces (run_id, file, piece, data, lines_before, words)
    SELECT $1, file, piece, data, lines_before, words
    FROM staged_pieces
    `,
    [run],
  );
}

async function insertRejectedContacts(client: Transaction, { run }: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO rejected_contacts (run_id, line, column_name, reason, ${rejectionDetailColumns})
    SELECT $1, line, column_name, reason, ${rejectionDetailColumns}
    FROM (${stagedRejections}) AS rejected
    ORDER BY line
    `,
    [run],
  );
}

async function insertEnvelopes(client: Transaction, { run, window }: PlannedRun): Promise<void> {
  // Window fields come last: they override the campaign's.
  await client.query(
    `
    INSERT INTO envelopes (run_id, envelope, fields, keypads, files, audio, sub_account, department, charge_code,
                           window_index, variant)
    SELECT $1, z.envelope, CAST(s.fields AS jsonb)${window ? ' || w.fields' : ''},
           coalesce(CAST(s.other_fields AS jsonb) -> 'keypads', '[]'), coalesce(CAST(s.other_fields AS jsonb) -> 'files', '[]'),
           coalesce(CAST(s.other_fields AS jsonb) -> 'audio', '{}'), s.sub_account, s.department, s.charge_code, z.window_index,
           s.variant
    FROM sized_envelopes z
    ${window ? 'JOIN staged_windows w ON w.window_index = z.window_index' : ''}
    JOIN staged_envelopes s ON s.envelope = z.staged
    ORDER BY z.envelope
    `,
    [run],
  );
}

/** First recipients this close share a block. A larger request has a block of its own. */
const recipientsPerContentBlock = 32;

/** Numbers staged contacts into requests and stores them in blocks. No block spans two slices. */
async function insertContents(client: Transaction, { run, chunkSize, rates }: PlannedRun): Promise<void> {
  await client.query(
    `
    WITH placed AS (
      -- In request order, so that the blocks below need no sort.
      SELECT z.envelope, z.recipients, z.requests_before, z.recipients_before,
             CAST(row_number() OVER (ORDER BY z.envelope, s.line) - 1 - z.recipients_before AS integer) AS rank,
             s.line, s.address, s.original_address, s.parts, s.destination,
             ${hasTariffs({ rates }) ? 's.tariff' : 'CAST(NULL AS smallint)'} AS tariff
      FROM staged_contacts s
      JOIN sized_envelopes z ON z.staged = s.envelope
    ), numbered AS (
      SELECT *, requests_before + 1 + rank / $2 AS request, rank % $2 + 1 AS position,
             least($2, recipients - rank / $2 * $2) AS size,
             (recipients_before + rank / $2 * $2) / $3 AS stretch
      FROM placed
    ), sliced AS (
      SELECT *, width_bucket(request, (
                  SELECT array_agg(first_request ORDER BY first_request) FROM slices WHERE run_id = $1 AND phase = 'sending'
                )) AS slice
      FROM numbered
    ), blocks AS (
      SELECT min(request) AS first_request, max(request) AS last_request, slice,
             array_agg(envelope ORDER BY request, position) FILTER (WHERE position = 1) AS envelopes,
             array_agg(size ORDER BY request, position) FILTER (WHERE position = 1) AS sizes,
             array_agg(request ORDER BY request, position) AS requests,
             array_agg(position ORDER BY request, position) AS positions,
             ${recipientArrays}
      FROM sliced
      GROUP BY slice, stretch
    )
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses, original_addresses, parts, tariffs, destinations)
    SELECT $1, first_request, last_request, slice, envelopes, sizes,
           ARRAY(SELECT request - first_request FROM unnest(requests) AS request), positions, lines,
           addresses, original_addresses, parts, tariffs, destinations
    FROM blocks
    `,
    [run, chunkSize, recipientsPerContentBlock],
  );
}
