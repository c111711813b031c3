import type { Knex } from 'knex';

/**
 * The ledger. Every key begins with the run, so that it can be distributed by run; states are closed lists kept by
 * CHECK constraints. What each table and state means: docs/architecture.md and src/domain.ts.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE runs (
      run_id              text PRIMARY KEY,
      campaign            text NOT NULL,
      account             text NOT NULL,
      channel             text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      state               text NOT NULL CHECK (state IN
                            ('importing', 'planned', 'running', 'completed', 'paused', 'cancelled', 'failed')),
      state_reason        text,
      definition          jsonb NOT NULL,
      message_key         bytea NOT NULL CHECK (length(message_key) >= 16),
      contacts_read       integer NOT NULL,
      contacts_invalid    integer NOT NULL,
      contacts_duplicate  integer NOT NULL,
      contacts_suppressed integer NOT NULL,
      created_at          timestamptz NOT NULL,
      finished_at         timestamptz
    );
    CREATE INDEX runs_newest ON runs (created_at DESC);

    CREATE TABLE run_files (
      run_id   text NOT NULL REFERENCES runs ON DELETE CASCADE,
      position integer NOT NULL,
      name     text NOT NULL,
      data     bytea NOT NULL,
      PRIMARY KEY (run_id, position)
    );

    CREATE TABLE envelopes (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      envelope    integer NOT NULL,
      fields      jsonb NOT NULL,
      sub_account text,
      department  text,
      charge_code text,
      PRIMARY KEY (run_id, envelope)
    );

    CREATE TABLE requests (
      run_id     text NOT NULL,
      request    integer NOT NULL,
      message_id text NOT NULL CHECK (message_id ~ '^[0-9A-Za-z]{1,40}$'),
      envelope   integer NOT NULL,
      recipients integer NOT NULL CHECK (recipients > 0),
      state      text NOT NULL DEFAULT 'planned' CHECK (state IN
                   ('planned', 'sending', 'accepted', 'rejected', 'failed', 'in_doubt', 'cancelled', 'abandoned')),
      reason     text,
      owner      uuid,
      attempts   integer NOT NULL DEFAULT 0,
      updated_at timestamptz,
      PRIMARY KEY (run_id, request),
      FOREIGN KEY (run_id, envelope) REFERENCES envelopes ON DELETE CASCADE,
      CHECK ((state = 'sending') = (owner IS NOT NULL))
    );
    -- The claim reads the lowest planned requests of one run; a delivery report finds its request by MessageID.
    CREATE INDEX requests_planned ON requests (run_id, request) WHERE state = 'planned';
    CREATE INDEX requests_message_id ON requests (message_id);

    CREATE TABLE recipients (
      run_id           text NOT NULL,
      request          integer NOT NULL,
      position         integer NOT NULL,
      line             integer NOT NULL,
      address          text NOT NULL,
      original_address text NOT NULL,
      destination      jsonb NOT NULL,
      outcome          text CHECK (outcome IN ('delivered', 'undelivered')),
      result           text,
      units            numeric,
      price            numeric,
      reported_at      timestamptz,
      PRIMARY KEY (run_id, request, position),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE
    );

    CREATE TABLE rejected_contacts (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      line        integer NOT NULL,
      column_name text NOT NULL,
      reason      text NOT NULL CHECK (reason IN ('invalid', 'duplicate', 'suppressed')),
      detail      text NOT NULL,
      PRIMARY KEY (run_id, line)
    );

    CREATE TABLE attempts (
      run_id      text NOT NULL,
      request     integer NOT NULL,
      attempt     integer NOT NULL,
      owner       uuid NOT NULL,
      started_at  timestamptz NOT NULL,
      finished_at timestamptz,
      verdict     text CHECK (verdict IN
                    ('accepted', 'rejected', 'unauthorized', 'retry', 'failed', 'in_doubt', 'released')),
      http_status integer,
      detail      text,
      PRIMARY KEY (run_id, request, attempt),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE
    );

    CREATE TABLE delivery_reports (
      report_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      account      text NOT NULL,
      received_at  timestamptz NOT NULL,
      content_type text NOT NULL,
      headers      jsonb NOT NULL,
      body         bytea NOT NULL,
      state        text NOT NULL DEFAULT 'received' CHECK (state IN
                     ('received', 'applied', 'unchanged', 'conflicting', 'unmatched', 'inbound', 'unreadable')),
      detail       text,
      run_id       text,
      request      integer,
      position     integer
    );
    CREATE INDEX delivery_reports_received ON delivery_reports (report_id) WHERE state = 'received';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE delivery_reports, attempts, rejected_contacts, recipients, requests, envelopes, run_files, runs;
  `);
}
