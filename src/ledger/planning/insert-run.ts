import { batchOf } from '../batch.ts';
import { markPlanned } from '../run-states/transitions.ts';
import type { ContactFileRecord } from '../runs/contact-files.ts';
import { rejectionDetailColumns, unusableRowColumns } from '../runs/rejection-detail.ts';
import type { Transaction } from '../session.ts';
import { rankOf } from '../slices/priority.ts';
import type { PlannedCounts, PlannedRun } from './planned-run.ts';

export async function insertRun(
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

export async function insertOrigins(client: Transaction, { run, origins }: PlannedRun): Promise<void> {
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

export async function insertContactFiles(
  client: Transaction,
  { run, contactFiles }: PlannedRun,
): Promise<void> {
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
    INSERT INTO contact_file_pieces (run_id, file, piece, data)
    SELECT $1, file, piece, data
    FROM staged_pieces
    `,
    [run],
  );
}

export async function insertRejectedContacts(client: Transaction, { run }: PlannedRun): Promise<void> {
  await client.query(
    `
    INSERT INTO rejected_contacts (run_id, line, column_name, reason, ${rejectionDetailColumns})
    SELECT $1, line, column_name, reason, ${rejectionDetailColumns}
    FROM (
      SELECT line, column_name, reason, ${unusableRowColumns}
      FROM staged_rejections
      UNION ALL
      SELECT line, column_name, reason, ${rejectionDetailColumns} FROM left_out
    ) AS rejected
    ORDER BY line
    `,
    [run],
  );
}

export async function insertEnvelopes(client: Transaction, { run, window }: PlannedRun): Promise<void> {
  // Window fields come last: they override the campaign's.
  await client.query(
    `
    INSERT INTO envelopes (run_id, envelope, fields, keypads, files, audio, sub_account, department, charge_code,
                           window_index)
    SELECT $1, z.envelope, CAST(s.fields AS jsonb)${window ? ' || w.fields' : ''},
           coalesce(CAST(s.other_fields AS jsonb) -> 'keypads', '[]'), coalesce(CAST(s.other_fields AS jsonb) -> 'files', '[]'),
           coalesce(CAST(s.other_fields AS jsonb) -> 'audio', '{}'), s.sub_account, s.department, s.charge_code, z.window_index
    FROM sized_envelopes z
    ${window ? 'JOIN staged_windows w ON w.window_index = z.window_index' : ''}
    JOIN staged_envelopes s ON s.envelope = z.staged
    ORDER BY z.envelope
    `,
    [run],
  );
}
