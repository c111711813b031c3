import type { Knex } from 'knex';

/**
 * What came and what it says, apart: `inbox` has the calls of the webhook as they came and is never changed,
 * `inbox_queue` the ones that are to be read, and `reports` what each was found to say and what became of it. So the
 * inbox can be read again at any time.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE delivery_reports RENAME TO inbox;
    ALTER INDEX delivery_reports_pkey RENAME TO inbox_pkey;
    ALTER SEQUENCE delivery_reports_report_id_seq RENAME TO inbox_report_id_seq;
    ALTER TABLE inbox ADD COLUMN method text NOT NULL DEFAULT 'POST' CHECK (method IN ('POST', 'GET', 'LOOK-UP'));
    ALTER TABLE inbox ALTER COLUMN method DROP DEFAULT;

    CREATE TABLE inbox_queue (
      report_id bigint PRIMARY KEY,
      due_at    timestamptz NOT NULL,
      -- Of the body, so that no batch is too large.
      bytes     integer NOT NULL,
      -- How often it was read and matched nothing.
      tries     integer NOT NULL DEFAULT 0
    );
    CREATE INDEX inbox_queue_due ON inbox_queue (due_at);

    -- What was committed together. A commit whose answer was lost is known by it when it is tried again.
    CREATE TABLE inbox_batches (
      batch       uuid PRIMARY KEY,
      received_at timestamptz NOT NULL
    );
    CREATE INDEX inbox_batches_received ON inbox_batches (received_at);

    CREATE TABLE reports (
      report_id   bigint PRIMARY KEY,
      account     text NOT NULL,
      received_at timestamptz NOT NULL,
      state       text NOT NULL CHECK (state IN
                    ('applied', 'unchanged', 'conflicting', 'unmatched', 'inbound', 'unreadable')),
      -- Why it is unreadable.
      detail      text,
      message_id  text,
      address     text,
      -- The service's own words.
      status      text,
      result      text,
      outcome     text CHECK (outcome IN ('delivered', 'undelivered', 'pending')),
      sent_at     timestamptz,
      units       numeric,
      price       numeric,
      -- Of an inbound message.
      text        text,
      run_id      text,
      request     integer,
      position    integer
    );
    -- The story of a recipient, and what people look after.
    CREATE INDEX reports_of_recipient ON reports (run_id, request, position) WHERE run_id IS NOT NULL;
    CREATE INDEX reports_by_address ON reports (address, report_id) WHERE address IS NOT NULL;
    CREATE INDEX reports_to_look_at ON reports (state, report_id)
      WHERE state IN ('conflicting', 'unmatched', 'inbound', 'unreadable');

    -- When the service was last asked about a request whose reports are missing.
    CREATE TABLE polls (
      run_id    text NOT NULL,
      request   integer NOT NULL,
      polled_at timestamptz NOT NULL,
      PRIMARY KEY (run_id, request),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE
    );

    INSERT INTO reports (report_id, account, received_at, state, detail, run_id, request, position)
    SELECT report_id, account, received_at, state, detail, run_id, request, position
    FROM inbox
    WHERE state <> 'received';
    INSERT INTO inbox_queue (report_id, due_at, bytes)
    SELECT report_id, received_at, octet_length(body) FROM inbox WHERE state = 'received';

    ALTER TABLE inbox
      DROP COLUMN state, DROP COLUMN detail, DROP COLUMN run_id, DROP COLUMN request, DROP COLUMN position;

    -- Written in the statement that has found the request.
    ALTER TABLE recipient_outcomes DROP CONSTRAINT recipient_outcomes_run_id_request_fkey;
    -- The report that decided; none for outcomes from before.
    ALTER TABLE recipient_outcomes ADD COLUMN report_id bigint;
  `);
}

/** What the earlier table cannot hold is lost: what the reports say beside what became of them, and how they came. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE recipient_outcomes
      DROP COLUMN report_id,
      ADD FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE;
    ALTER TABLE inbox DROP COLUMN method;
    ALTER TABLE inbox
      ADD COLUMN state text NOT NULL DEFAULT 'received' CONSTRAINT delivery_reports_state_check CHECK (state IN
        ('received', 'applied', 'unchanged', 'conflicting', 'unmatched', 'inbound', 'unreadable')),
      ADD COLUMN detail text,
      ADD COLUMN run_id text,
      ADD COLUMN request integer,
      ADD COLUMN position integer;
    UPDATE inbox i
    SET state = r.state, detail = r.detail, run_id = r.run_id, request = r.request, position = r.position
    FROM reports r
    WHERE r.report_id = i.report_id;
    ALTER TABLE inbox RENAME TO delivery_reports;
    ALTER INDEX inbox_pkey RENAME TO delivery_reports_pkey;
    ALTER SEQUENCE inbox_report_id_seq RENAME TO delivery_reports_report_id_seq;
    CREATE INDEX delivery_reports_received ON delivery_reports (report_id) WHERE state = 'received';
    DROP TABLE polls, reports, inbox_batches, inbox_queue;
  `);
}
