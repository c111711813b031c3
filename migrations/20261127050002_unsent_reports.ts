import type { Knex } from 'knex';

/** A report on a request that was never sent is a figure of its own: the service charges for it all the same. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE billing_entries
      ADD COLUMN unsent_delivered bigint NOT NULL DEFAULT 0,
      ADD COLUMN unsent_undelivered bigint NOT NULL DEFAULT 0;
    CREATE INDEX billing_entries_unsent ON billing_entries (booked)
      WHERE unsent_delivered <> 0 OR unsent_undelivered <> 0;
    COMMENT ON COLUMN billing_entries.delivered IS
      'Recipients with this outcome in a delivery report, of requests that were sent.';
    COMMENT ON COLUMN billing_entries.undelivered IS
      'Recipients with this outcome in a delivery report, of requests that were sent.';
    COMMENT ON COLUMN billing_entries.unsent_delivered IS
      'Recipients with this outcome in a delivery report, of requests that were never sent.';
    COMMENT ON COLUMN billing_entries.unsent_undelivered IS
      'Recipients with this outcome in a delivery report, of requests that were never sent.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP INDEX billing_entries_unsent;
    ALTER TABLE billing_entries DROP COLUMN unsent_delivered, DROP COLUMN unsent_undelivered;
    COMMENT ON COLUMN billing_entries.delivered IS 'Recipients with this outcome in a delivery report.';
    COMMENT ON COLUMN billing_entries.undelivered IS 'Recipients with this outcome in a delivery report.';
  `);
}
