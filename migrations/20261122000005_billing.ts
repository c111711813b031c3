import type { Knex } from 'knex';

/** Append-only billing entries by quarter of an hour and payer. Reports add up entries, not recipients. */
export async function up(knex: Knex): Promise<void> {
  await createSlices(knex);
  await createEntries(knex);
  await createChanges(knex);
}

async function createSlices(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE billing_slices (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice  integer NOT NULL,
      open   boolean NOT NULL,
      PRIMARY KEY (run_id, slice)
    );
    CREATE INDEX billing_slices_open ON billing_slices (run_id, slice) WHERE open;
    COMMENT ON TABLE billing_slices IS 'Slices of runs. A worker books a slice as a whole.';
    COMMENT ON COLUMN billing_slices.open IS 'The entries do not yet show its requests as they are now.';

    CREATE TABLE billing_reopened_requests (
      run_id  text NOT NULL,
      request integer NOT NULL
    );
    COMMENT ON TABLE billing_reopened_requests IS
      'Settled requests that changed after their slices were booked. Transactions that change requests only add '
      'rows, and booking deletes them. Updating billing_slices instead caused deadlocks with booking and with '
      'closing a month.';
  `);
}

async function createEntries(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE billing_entries (
      run_id         text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice          integer NOT NULL,
      sent           timestamptz NOT NULL,
      booked         timestamptz NOT NULL,
      sub_account    text,
      department     text,
      charge_code    text,
      requests       bigint NOT NULL DEFAULT 0,
      recipients     bigint NOT NULL DEFAULT 0,
      accepted       bigint NOT NULL DEFAULT 0,
      failed         bigint NOT NULL DEFAULT 0,
      unknown        bigint NOT NULL DEFAULT 0,
      delivered      bigint NOT NULL DEFAULT 0,
      undelivered    bigint NOT NULL DEFAULT 0,
      units          numeric NOT NULL DEFAULT 0,
      expected_units numeric NOT NULL DEFAULT 0,
      price          numeric NOT NULL DEFAULT 0,
      estimated      numeric NOT NULL DEFAULT 0,
      estimated_tax  numeric NOT NULL DEFAULT 0,
      unrated        bigint NOT NULL DEFAULT 0
    );
    CREATE UNIQUE INDEX billing_entries_key
      ON billing_entries (run_id, slice, sent, booked, sub_account, department, charge_code)
      NULLS NOT DISTINCT;
    CREATE INDEX billing_entries_booked ON billing_entries (booked);
    CREATE INDEX billing_entries_unknown ON billing_entries (unknown) WHERE unknown <> 0;
    COMMENT ON TABLE billing_entries IS
      'Billing figures by run, slice, quarter of an hour and payer. Booking adds to an entry, so reports add up '
      'entries instead of recipients.';
    COMMENT ON COLUMN billing_entries.sent IS 'Start of the quarter of an hour in which the last attempt began.';
    COMMENT ON COLUMN billing_entries.booked IS
      'When it counts: as sent, or, if that period is closed, the start of the next one.';
    COMMENT ON COLUMN billing_entries.sub_account IS 'The payer, with department and charge_code.';
    COMMENT ON COLUMN billing_entries.requests IS 'Requests that were sent, or may have been.';
    COMMENT ON COLUMN billing_entries.recipients IS 'Recipients of those requests.';
    COMMENT ON COLUMN billing_entries.accepted IS 'Recipients whose request the service accepted.';
    COMMENT ON COLUMN billing_entries.failed IS 'Recipients whose request was rejected or failed.';
    COMMENT ON COLUMN billing_entries.unknown IS 'Recipients whose request is sending, in doubt or abandoned.';
    COMMENT ON COLUMN billing_entries.delivered IS 'Recipients with this outcome in a delivery report.';
    COMMENT ON COLUMN billing_entries.undelivered IS 'Recipients with this outcome in a delivery report.';
    COMMENT ON COLUMN billing_entries.units IS 'Units in the delivery reports.';
    COMMENT ON COLUMN billing_entries.expected_units IS 'Units of accepted recipients, as Volley counts them.';
    COMMENT ON COLUMN billing_entries.price IS 'Prices in the delivery reports.';
    COMMENT ON COLUMN billing_entries.estimated IS
      'Units times the tariff, without tax: expected units of e-mail and SMS, reported units of other channels.';
    COMMENT ON COLUMN billing_entries.unrated IS 'Accepted recipients without a tariff.';
  `);
}

async function createChanges(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE billing_changes (
      run_id      text NOT NULL,
      request     integer NOT NULL,
      position    integer NOT NULL,
      delivered   smallint NOT NULL,
      undelivered smallint NOT NULL,
      units       numeric,
      price       numeric,
      sent        timestamptz
    );
    -- Without it, each delivery report on a retried request would read all changes.
    CREATE INDEX billing_changes_request ON billing_changes (run_id, request);
    COMMENT ON TABLE billing_changes IS
      'Changes of single recipients since the last booking. Statements that write outcomes add them, and so does '
      'each further attempt. Booking deletes them.';
    COMMENT ON COLUMN billing_changes.delivered IS '1: it became delivered. -1: it no longer is. 0: no change.';
    COMMENT ON COLUMN billing_changes.undelivered IS 'As delivered.';
    COMMENT ON COLUMN billing_changes.units IS 'Difference in reported units.';
    COMMENT ON COLUMN billing_changes.price IS 'Difference in reported prices.';
    COMMENT ON COLUMN billing_changes.sent IS
      'When an earlier attempt sent the request; the change is booked at this time. Null: the last attempt counts, '
      'and the change waits until there is one.';

    CREATE TABLE billing_outcomes (
      run_id      text NOT NULL,
      requests    integer[] NOT NULL,
      slices      integer[] NOT NULL,
      envelopes   integer[] NOT NULL,
      tariffs     smallint[] NOT NULL,
      delivered   smallint[] NOT NULL,
      undelivered smallint[] NOT NULL,
      units       numeric[] NOT NULL,
      prices      numeric[] NOT NULL
    );
    COMMENT ON TABLE billing_outcomes IS
      'Outcomes that ordinary delivery reports decided since the last booking, which deletes them. Their requests '
      'are accepted, so no later attempt moves them. A row has outcomes of one run that were decided together; its '
      'arrays have an element for each request and tariff.';
    COMMENT ON COLUMN billing_outcomes.delivered IS 'Number of recipients.';
    COMMENT ON COLUMN billing_outcomes.units IS 'Sum of their units; null: none was reported.';

    CREATE TABLE billing_closings (
      period    text PRIMARY KEY,
      time_zone text NOT NULL,
      begins_at timestamptz NOT NULL,
      ends_at   timestamptz NOT NULL UNIQUE,
      closed_at timestamptz NOT NULL,
      closed_by text NOT NULL
    );
    COMMENT ON TABLE billing_closings IS
      'Periods that an operator has closed. New entries are booked after the end of the latest one.';
    COMMENT ON COLUMN billing_closings.period IS 'A month, such as 2026-11.';
    COMMENT ON COLUMN billing_closings.closed_by IS 'The operator.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE billing_closings, billing_outcomes, billing_changes, billing_entries, billing_reopened_requests, billing_slices;
  `);
}
