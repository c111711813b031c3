import type pg from 'pg';

/** What deletes of the others note goes last. Nobody empties the audit trail. */
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
  ...['job_numbers', 'suppressions', 'removed_suppressions', 'rate_limits', 'account_breakers'],
  ...['billing_changes', 'billing_outcomes', 'billing_reopened_requests', 'billing_closings'],
];

/** It is another one from now on: that claims are gone is no sign of a restored backup. */
const another =
  'UPDATE ledger_location SET ledger = gen_random_uuid(), held_at = NULL, held_reason = NULL, incomplete = false';

/** Far quicker than TRUNCATE, which makes new files for every table and index. */
export async function emptyLedger(pool: pg.Pool): Promise<void> {
  await pool.query([...tables.map((table) => `DELETE FROM ${table}`), another].join('; '));
}
