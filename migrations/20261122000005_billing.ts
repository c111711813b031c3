import type { Knex } from 'knex';

/**
 * Billing as entries that are only added to: what a run's requests and recipients have come to, by the quarter of an hour
 * in which they were sent and by who pays. So a report adds up entries, not recipients.
 */
export async function up(knex: Knex): Promise<void> {
  await makeSlices(knex);
  await makeEntries(knex);
  await makeChanges(knex);
}

async function makeSlices(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE billing_slices (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice  integer NOT NULL,
      open   boolean NOT NULL,
      PRIMARY KEY (run_id, slice)
    );
    CREATE INDEX billing_slices_open ON billing_slices (run_id, slice) WHERE open;
    COMMENT ON TABLE billing_slices IS 'The slices of runs. A worker books a slice as a whole.';
    COMMENT ON COLUMN billing_slices.open IS 'Requests of the slice are not in the entries as they are now.';

    CREATE TABLE billing_reopened_requests (
      run_id  text NOT NULL,
      request integer NOT NULL
    );
    COMMENT ON TABLE billing_reopened_requests IS
      'Settled requests that have changed since their slices were booked. Rows are only added, by what changes them, and '
      'the booking takes them: with an update of billing_slices in their place, a transaction that changed requests of '
      'several slices, and one that booked them or closed a month, locked each other out.';
  `);
}

async function makeEntries(knex: Knex): Promise<void> {
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
      'What requests and recipients come to, by run, slice, quarter of an hour and payer. A booking adds to an '
      'entry, so a report adds up entries and not recipients.';
    COMMENT ON COLUMN billing_entries.sent IS
      'The beginning of the quarter of an hour in which the last attempt of the requests began.';
    COMMENT ON COLUMN billing_entries.booked IS
      'When it counts: as sent, or, where that period is closed, at the beginning of the next one.';
    COMMENT ON COLUMN billing_entries.sub_account IS 'The payer, with department and charge_code.';
    COMMENT ON COLUMN billing_entries.requests IS 'Requests that were sent, or may have been.';
    COMMENT ON COLUMN billing_entries.recipients IS 'Recipients of those requests.';
    COMMENT ON COLUMN billing_entries.accepted IS 'Recipients whose request the service accepted.';
    COMMENT ON COLUMN billing_entries.failed IS 'Recipients whose request was rejected, or failed.';
    COMMENT ON COLUMN billing_entries.unknown IS 'Recipients whose request is being sent, in doubt, or abandoned.';
    COMMENT ON COLUMN billing_entries.delivered IS 'Recipients with this outcome in a delivery report.';
    COMMENT ON COLUMN billing_entries.undelivered IS 'Recipients with this outcome in a delivery report.';
    COMMENT ON COLUMN billing_entries.units IS 'Units in the delivery reports.';
    COMMENT ON COLUMN billing_entries.expected_units IS 'Units of the accepted recipients by the count of Volley.';
    COMMENT ON COLUMN billing_entries.price IS 'Prices in the delivery reports.';
    COMMENT ON COLUMN billing_entries.estimated IS
      'Units times the tariff, without tax: expected units of e-mail and SMS, reported ones of other channels.';
    COMMENT ON COLUMN billing_entries.unrated IS 'Accepted recipients for whom the account has no tariff.';
  `);
}

async function makeChanges(knex: Knex): Promise<void> {
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
    -- A service that is busy for all requests, and reports on them, would have all changes read for each.
    CREATE INDEX billing_changes_request ON billing_changes (run_id, request);
    COMMENT ON TABLE billing_changes IS
      'What became of single recipients since the last booking: differences, noted by the statements that write outcomes, '
      'and with each further attempt. The booking takes them.';
    COMMENT ON COLUMN billing_changes.delivered IS '1: it became delivered. -1: it is so no more. 0: no change.';
    COMMENT ON COLUMN billing_changes.undelivered IS 'As delivered.';
    COMMENT ON COLUMN billing_changes.units IS 'Difference of the reported units.';
    COMMENT ON COLUMN billing_changes.price IS 'Difference of the reported prices.';
    COMMENT ON COLUMN billing_changes.sent IS
      'When the request was sent by an earlier attempt, at which the change is booked; null: by its last attempt. It '
      'waits as long as there was none.';

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
      'Outcomes that ordinary reports have decided since the last booking, which takes them: of recipients of accepted '
      'requests, so that no later attempt moves them. A row has those of a run that were decided together, an element of '
      'its arrays those of a request and tariff.';
    COMMENT ON COLUMN billing_outcomes.delivered IS 'How many recipients.';
    COMMENT ON COLUMN billing_outcomes.units IS 'Their sum; null: none was reported.';

    CREATE TABLE billing_closings (
      period    text PRIMARY KEY,
      time_zone text NOT NULL,
      begins_at timestamptz NOT NULL,
      ends_at   timestamptz NOT NULL UNIQUE,
      closed_at timestamptz NOT NULL,
      closed_by text NOT NULL
    );
    COMMENT ON TABLE billing_closings IS
      'Periods that an operator has closed. Entries are booked after the end of the latest one.';
    COMMENT ON COLUMN billing_closings.period IS 'A month, such as 2026-11.';
    COMMENT ON COLUMN billing_closings.closed_by IS 'The person who closed it.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE billing_closings, billing_outcomes, billing_changes, billing_entries, billing_reopened_requests, billing_slices;
  `);
}
