import type { Knex } from 'knex';

/**
 * Raw calls and their content are separate: `inbox` has unchanged calls, `inbox_queue` those to be read, and
 * `delivery_reports` their content and state. So the inbox can be read again at any time.
 */
export async function up(knex: Knex): Promise<void> {
  await createInbox(knex);
  await createUnusualReports(knex);
  await createReports(knex);
  await createCalls(knex);
}

async function createInbox(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE inbox (
      report_id    bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      account      text NOT NULL,
      received_at  timestamptz NOT NULL,
      method       text NOT NULL CHECK (method IN ('POST', 'GET', 'LOOK-UP')),
      content_type text NOT NULL,
      headers      json NOT NULL,
      body         bytea NOT NULL
    );
    COMMENT ON TABLE inbox IS
      'Calls of the webhook, and answers of status look-ups, as they came. Only a purge changes them, so they can '
      'be read again at any time.';
    COMMENT ON COLUMN inbox.report_id IS 'In order of arrival.';
    COMMENT ON COLUMN inbox.account IS 'The account that received the call.';
    COMMENT ON COLUMN inbox.method IS
      'POST, GET: the service called the webhook. LOOK-UP: Volley asked the service for the status.';
    COMMENT ON COLUMN inbox.headers IS 'Without credentials.';
    COMMENT ON COLUMN inbox.body IS 'Raw bytes; of a GET, the query string.';

    CREATE TABLE inbox_batches (
      batch       uuid PRIMARY KEY,
      received_at timestamptz NOT NULL
    );
    CREATE INDEX inbox_batches_received ON inbox_batches (received_at);
    COMMENT ON TABLE inbox_batches IS
      'Calls that were committed together. By this row, a retry after a lost answer recognises its commit. Rows are '
      'deleted after a while.';
    COMMENT ON COLUMN inbox_batches.batch IS 'The receiver chooses it.';

    CREATE TABLE inbox_queue (
      entry      bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      due_at     timestamptz NOT NULL,
      report_ids bigint[] NOT NULL,
      bytes      bigint NOT NULL,
      attempts   integer NOT NULL DEFAULT 0,
      reread     boolean NOT NULL DEFAULT false
    );
    CREATE INDEX inbox_queue_due ON inbox_queue (due_at, entry);
    COMMENT ON TABLE inbox_queue IS
      'Calls of the inbox that wait to be read. Calls that were committed together share a row.';
    COMMENT ON COLUMN inbox_queue.due_at IS 'Not read before this time.';
    COMMENT ON COLUMN inbox_queue.report_ids IS 'Ids of the inbox, in order.';
    COMMENT ON COLUMN inbox_queue.bytes IS 'Total size of the bodies, to limit batches.';
    COMMENT ON COLUMN inbox_queue.attempts IS 'How often they were read without matching a request.';
    COMMENT ON COLUMN inbox_queue.reread IS 'Whether they may have been read before.';
  `);
}

async function createUnusualReports(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE unusual_delivery_reports (
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
    -- The first report of a recipient to arrive decides.
    CREATE INDEX unusual_delivery_reports_of_recipient ON unusual_delivery_reports (run_id, request, position, report_id)
      WHERE run_id IS NOT NULL;
    CREATE INDEX unusual_delivery_reports_unresolved ON unusual_delivery_reports (state, report_id) INCLUDE (account)
      WHERE state IN ('conflicting', 'unmatched', 'inbound', 'unreadable', 'failed');
    -- Of an address, those that belong to no known message.
    CREATE INDEX unusual_delivery_reports_of_address ON unusual_delivery_reports (address) WHERE run_id IS NULL;
    CREATE INDEX unusual_delivery_reports_incomplete ON unusual_delivery_reports (report_id) WHERE detail IS NOT NULL;
    COMMENT ON TABLE unusual_delivery_reports IS
      'Content and state of calls of the inbox that are no ordinary delivery reports. An ordinary one gets a row '
      'when another report of its recipient arrives, or when it is read again.';
    COMMENT ON COLUMN unusual_delivery_reports.state IS
      'The applier sets it. applied: it decided the outcome of its recipient. unchanged: it repeats what is known, '
      'or is not final. conflicting: it contradicts the first final report. unmatched: it belongs to no request. '
      'inbound: a reply of a recipient. unreadable: it cannot be read. failed: it cannot be applied.';
    COMMENT ON COLUMN unusual_delivery_reports.detail IS 'What could not be read or applied, and why; null: nothing.';
    COMMENT ON COLUMN unusual_delivery_reports.job_number IS
      'The number that the service gave the message, if the report has one.';
    COMMENT ON COLUMN unusual_delivery_reports.address IS 'The recipient, or the sender of a reply.';
    COMMENT ON COLUMN unusual_delivery_reports.status IS 'In the service''s words.';
    COMMENT ON COLUMN unusual_delivery_reports.result IS 'In the service''s words.';
    COMMENT ON COLUMN unusual_delivery_reports.outcome IS
      'delivered, undelivered: final. pending: the service is still trying. Null for a reply.';
    COMMENT ON COLUMN unusual_delivery_reports.sent_at IS 'When the service sent the message.';
    COMMENT ON COLUMN unusual_delivery_reports.units IS 'Parts, pages or seconds that the service charges for.';
    COMMENT ON COLUMN unusual_delivery_reports.price IS 'In the account''s currency.';
    COMMENT ON COLUMN unusual_delivery_reports.text IS 'Text of a reply.';
    COMMENT ON COLUMN unusual_delivery_reports.run_id IS
      'With request and position: the recipient that it belongs to; null: none matches.';
    COMMENT ON COLUMN unusual_delivery_reports.position IS 'The recipient''s position in the request, from 1.';
  `);
}

/**
 * An ordinary report is the first final one of its recipient, for an accepted request. Its content is only in the
 * outcome that it decided.
 */
async function createReports(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE VIEW delivery_reports AS
    SELECT report_id, account, received_at, state, detail, message_id, job_number, address, status, result, outcome,
           sent_at, units, price, text, run_id, request, position
    FROM unusual_delivery_reports
    UNION ALL
    SELECT o.report_id, r.account, o.reported_at, 'applied', NULL, message_id(r.run_number, r.message_key, o.request),
           o.job_number,
           (
             SELECT p.address FROM recipients_between(o.run_id, o.request, o.request) p WHERE p.position = o.position
           ),
           o.status, o.result, o.outcome, o.sent_at, o.units, o.price, NULL, o.run_id, o.request, o.position
    FROM recipient_outcomes o
    JOIN runs r ON r.run_id = o.run_id
    WHERE o.report_id IS NOT NULL AND NOT EXISTS (SELECT FROM unusual_delivery_reports u WHERE u.report_id = o.report_id);
    COMMENT ON VIEW delivery_reports IS 'Content and state of every call of the inbox that was read.';
  `);
}

async function createCalls(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE polls (
      run_id    text NOT NULL REFERENCES runs ON DELETE CASCADE,
      request   integer NOT NULL,
      polled_at timestamptz NOT NULL,
      PRIMARY KEY (run_id, request)
    );
    COMMENT ON TABLE polls IS 'When Volley last asked the service about a request with missing delivery reports.';

    CREATE TABLE signed_calls (
      account     text NOT NULL,
      digest      bytea NOT NULL,
      received_at timestamptz NOT NULL,
      PRIMARY KEY (account, digest)
    );
    CREATE INDEX signed_calls_received ON signed_calls (received_at);
    COMMENT ON TABLE signed_calls IS
      'Signed calls of the webhook while their signatures are valid: each counts once.';
    COMMENT ON COLUMN signed_calls.digest IS 'Of the signed content.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP VIEW delivery_reports;
    DROP TABLE signed_calls, polls, unusual_delivery_reports, inbox_queue, inbox_batches, inbox;
  `);
}
