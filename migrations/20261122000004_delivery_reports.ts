import type { Knex } from 'knex';

/**
 * What came and what it says, apart: `inbox` has the calls of the webhook as they came and is never changed,
 * `inbox_queue` the ones that are to be read, and `reports` what each was found to say and what became of it. So the
 * inbox can be read again at any time.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE inbox (
      report_id    bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      account      text NOT NULL,
      received_at  timestamptz NOT NULL,
      method       text NOT NULL CHECK (method IN ('POST', 'GET', 'LOOK-UP')),
      content_type text NOT NULL,
      headers      jsonb NOT NULL,
      body         bytea NOT NULL
    );

    CREATE TABLE inbox_batches (
      batch       uuid PRIMARY KEY,
      received_at timestamptz NOT NULL
    );
    CREATE INDEX inbox_batches_received ON inbox_batches (received_at);

    CREATE TABLE inbox_queue (
      entry      bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      due_at     timestamptz NOT NULL,
      report_ids bigint[] NOT NULL,
      bytes      bigint NOT NULL,
      tries      integer NOT NULL DEFAULT 0
    );
    CREATE INDEX inbox_queue_due ON inbox_queue (due_at, entry);

    CREATE TABLE reports (
      report_id   bigint PRIMARY KEY,
      account     text NOT NULL,
      received_at timestamptz NOT NULL,
      state       text NOT NULL CHECK (state IN
                    ('applied', 'unchanged', 'conflicting', 'unmatched', 'inbound', 'unreadable', 'failed')),
      detail      text,
      message_id  text,
      job_number  text,
      address     text,
      status      text,
      result      text,
      outcome     text CHECK (outcome IN ('delivered', 'undelivered', 'pending')),
      sent_at     timestamptz,
      units       numeric,
      price       numeric,
      text        text,
      run_id      text,
      request     integer,
      position    integer
    );
    -- The reports of a recipient, in the order of their arrival: the first of them decides.
    CREATE INDEX reports_of_recipient ON reports (run_id, request, position, report_id)
      WHERE run_id IS NOT NULL;
    CREATE INDEX reports_to_look_at ON reports (state, report_id)
      WHERE state IN ('conflicting', 'unmatched', 'inbound', 'unreadable', 'failed');
    CREATE INDEX reports_flawed ON reports (report_id) WHERE detail IS NOT NULL;

    CREATE TABLE polls (
      run_id    text NOT NULL,
      request   integer NOT NULL,
      polled_at timestamptz NOT NULL,
      PRIMARY KEY (run_id, request),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE
    );

    CREATE TABLE signed_calls (
      account     text NOT NULL,
      digest      bytea NOT NULL,
      received_at timestamptz NOT NULL,
      PRIMARY KEY (account, digest)
    );
    CREATE INDEX signed_calls_received ON signed_calls (received_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE signed_calls, polls, reports, inbox_queue, inbox_batches, inbox');
}
