import type { Knex } from 'knex';

/**
 * A report that the ledger refuses is marked and passed by, so that it holds up no other. And the reports of a recipient are
 * found in the order of their arrival, for the first of them decides.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE reports
      DROP CONSTRAINT reports_state_check,
      ADD CONSTRAINT reports_state_check CHECK (state IN
        ('applied', 'unchanged', 'conflicting', 'unmatched', 'inbound', 'unreadable', 'failed'));
    DROP INDEX reports_to_look_at;
    CREATE INDEX reports_to_look_at ON reports (state, report_id)
      WHERE state IN ('conflicting', 'unmatched', 'inbound', 'unreadable', 'failed');
    DROP INDEX reports_of_recipient;
    CREATE INDEX reports_of_recipient ON reports (run_id, request, position, report_id) WHERE run_id IS NOT NULL;
  `);
}

/** What could not be applied cannot be told from what could not be read in the earlier table. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    UPDATE reports SET state = 'unreadable' WHERE state = 'failed';
    DROP INDEX reports_of_recipient;
    CREATE INDEX reports_of_recipient ON reports (run_id, request, position) WHERE run_id IS NOT NULL;
    DROP INDEX reports_to_look_at;
    CREATE INDEX reports_to_look_at ON reports (state, report_id)
      WHERE state IN ('conflicting', 'unmatched', 'inbound', 'unreadable');
    ALTER TABLE reports
      DROP CONSTRAINT reports_state_check,
      ADD CONSTRAINT reports_state_check CHECK (state IN
        ('applied', 'unchanged', 'conflicting', 'unmatched', 'inbound', 'unreadable'));
  `);
}
