import type { Knex } from 'knex';

/**
 * An ordinary report is the first final one of its recipient, about a request that was accepted: what it says is in the
 * outcome that it decided, and it has no other row. Every other report has one in `unusual_reports`, and so has an ordinary
 * one from the moment another report of its recipient comes, or it is read again. `reports` has a row for each.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE reports RENAME TO unusual_reports;
    ALTER TABLE recipient_outcomes ADD COLUMN status text, ADD COLUMN job_number text, ADD COLUMN sent_at timestamptz;
    -- By the key of the report, for when it is read again, and when what is old is purged.
    CREATE INDEX recipient_outcomes_report ON recipient_outcomes (report_id) WHERE report_id IS NOT NULL;
    COMMENT ON COLUMN recipient_outcomes.status IS
      'As it and the next two are in the report that decided, where that has no row of its own.';

    CREATE VIEW reports AS
    SELECT report_id, account, received_at, state, detail, message_id, job_number, address, status, result, outcome,
           sent_at, units, price, text, run_id, request, position
    FROM unusual_reports
    UNION ALL
    SELECT o.report_id, r.account, o.reported_at, 'applied', NULL, message_id(r.run_number, r.message_key, o.request),
           o.job_number,
           (
             SELECT p.address FROM recipients_between(o.run_id, o.request, o.request) p WHERE p.position = o.position
           ),
           o.status, o.result, o.outcome, o.sent_at, o.units, o.price, NULL, o.run_id, o.request, o.position
    FROM recipient_outcomes o
    JOIN runs r ON r.run_id = o.run_id
    WHERE o.report_id IS NOT NULL AND NOT EXISTS (SELECT FROM unusual_reports u WHERE u.report_id = o.report_id);
    COMMENT ON VIEW reports IS 'What each call of the inbox says, and what became of it.';

    ALTER TABLE inbox_queue ADD COLUMN again boolean NOT NULL DEFAULT false;
    COMMENT ON COLUMN inbox_queue.again IS 'Whether they may have been read before.';

    DROP TRIGGER outcomes_are_known ON recipient_outcomes;
    DROP TRIGGER outcomes_change ON recipient_outcomes;
    DROP TRIGGER outcomes_are_withdrawn ON recipient_outcomes;
    DROP FUNCTION note_billing_changes, note_withdrawn_outcomes;

    COMMENT ON TABLE billing_changes IS
      'What became of single recipients since the last booking: differences, noted by the statements that write outcomes, '
      'and by a trigger of requests. The booking takes them.';

    CREATE TABLE billing_outcomes (
      run_id    text NOT NULL,
      requests  integer[] NOT NULL,
      positions integer[] NOT NULL,
      delivered boolean[] NOT NULL,
      units     numeric[] NOT NULL,
      prices    numeric[] NOT NULL
    );
    COMMENT ON TABLE billing_outcomes IS
      'Outcomes that ordinary reports have decided since the last booking, which takes them: recipients of accepted '
      'requests, so that no later attempt moves them. A row has those of a run that were decided together.';
  `);
}

/** What ordinary reports have said goes with them: nothing is installed that has any. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE billing_outcomes;
    ALTER TABLE inbox_queue DROP COLUMN again;
    DROP VIEW reports;
    DROP INDEX recipient_outcomes_report;
    ALTER TABLE recipient_outcomes DROP COLUMN status, DROP COLUMN job_number, DROP COLUMN sent_at;
    ALTER TABLE unusual_reports RENAME TO reports;
    -- Of the migration before, which drops them.
    CREATE FUNCTION note_billing_changes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE FUNCTION note_withdrawn_outcomes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
  `);
}
