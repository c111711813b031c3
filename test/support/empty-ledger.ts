import type pg from 'pg';

/** Tables to which deletes of others write come last. The audit trail is never emptied. */
const tables = [
  ...[
    'envelopes',
    'notifications',
    'ticks',
    'schedules',
    'attempts',
    'recipient_outcomes',
    'folded_outcomes',
    'folded_reports',
    'unusual_delivery_reports',
    'inbox',
    'inbox_queue',
    'inbox_blocks',
    'inbox_waiting',
    'inbox_batches',
  ],
  'job_numbers',
  'suppressions',
  'removed_suppressions',
  'rate_limits',
  'account_breakers',
  'billing_changes',
  'billing_outcomes',
  'billing_reopened_requests',
  'billing_closings',
];

/** Gives the ledger a new identity: otherwise its missing claims would look like a restored backup. */
const another =
  'UPDATE ledger_location SET ledger = gen_random_uuid(), held_at = NULL, held_reason = NULL, incomplete = false';

/**
 * Deletes runs and the rows that refer to them. Volley deletes no run, so the ledger refuses it while a row does.
 *
 * @param condition SQL: of `runs`
 */
export async function deleteRuns(pool: pg.Pool, condition = 'true'): Promise<void> {
  const { rows } = await pool.query<{ statement: string }>(
    `
    SELECT format('DELETE FROM %s WHERE %I IN (SELECT run_id FROM runs WHERE %s)', conrelid::regclass, attname, $1::text) AS statement
    FROM pg_constraint
    JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
    WHERE contype = 'f' AND confrelid IN ('runs'::regclass, 'contact_files'::regclass) AND conrelid <> confrelid
    -- Pieces of contact files before the files.
    ORDER BY confrelid = 'runs'::regclass
    `,
    [condition],
  );
  await pool.query(
    [...rows.map(({ statement }) => statement), `DELETE FROM runs WHERE ${condition}`].join('; '),
  );
}

/** Much faster than TRUNCATE, which creates new files for every table and index. */
export async function emptyLedger(pool: pg.Pool): Promise<void> {
  await deleteRuns(pool);
  await pool.query([...tables.map((table) => `DELETE FROM ${table}`), another].join('; '));
}
