import type pg from 'pg';

/** Tables to which deletes of others write come last. The audit trail is never emptied. */
const tables = [
  ...[
    'runs',
    'envelopes',
    'schedules',
    'attempts',
    'recipient_outcomes',
    'unusual_delivery_reports',
    'inbox',
    'inbox_queue',
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

/** Much faster than TRUNCATE, which creates new files for every table and index. */
export async function emptyLedger(pool: pg.Pool): Promise<void> {
  await pool.query([...tables.map((table) => `DELETE FROM ${table}`), another].join('; '));
}
