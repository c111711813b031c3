import type { Knex } from 'knex';

/**
 * What came and what it says, apart: `inbox` has the calls of the webhook as they came and is never changed,
 * `inbox_queue` the ones that are to be read, and `reports` what each was found to say and what became of it. So the
 * inbox can be read again at any time.
 */
export async function up(knex: Knex): Promise<void> {
  await makeInbox(knex);
  await makeReports(knex);
  await makeCalls(knex);
}

async function makeInbox(knex: Knex): Promise<void> {
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
    COMMENT ON TABLE inbox IS
      'Calls of the webhook, and answers of status look-ups, as they came. Nothing but a purge changes them, so '
      'they can be read again at any time.';
    COMMENT ON COLUMN inbox.report_id IS 'In the order of arrival.';
    COMMENT ON COLUMN inbox.account IS 'The account that the call was received for.';
    COMMENT ON COLUMN inbox.method IS
      'POST, GET: the service called the webhook. LOOK-UP: Volley asked the service for the status.';
    COMMENT ON COLUMN inbox.headers IS 'Without credentials.';
    COMMENT ON COLUMN inbox.body IS 'Raw bytes; of a GET, the query.';

    CREATE TABLE inbox_batches (
      batch       uuid PRIMARY KEY,
      received_at timestamptz NOT NULL
    );
    CREATE INDEX inbox_batches_received ON inbox_batches (received_at);
    COMMENT ON TABLE inbox_batches IS
      'Calls that were committed together. A commit whose answer was lost is recognised by its row when it is tried '
      'again. Forgotten after a while.';
    COMMENT ON COLUMN inbox_batches.batch IS 'Chosen by the receiver.';

    CREATE TABLE inbox_queue (
      entry      bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      due_at     timestamptz NOT NULL,
      report_ids bigint[] NOT NULL,
      bytes      bigint NOT NULL,
      tries      integer NOT NULL DEFAULT 0
    );
    CREATE INDEX inbox_queue_due ON inbox_queue (due_at, entry);
    COMMENT ON TABLE inbox_queue IS
      'Calls of the inbox that are to be read. One row for those that were committed together.';
    COMMENT ON COLUMN inbox_queue.due_at IS 'Not to be read before.';
    COMMENT ON COLUMN inbox_queue.report_ids IS 'Rows of the inbox, in their order.';
    COMMENT ON COLUMN inbox_queue.bytes IS 'Of all bodies, so that a batch is not too large.';
    COMMENT ON COLUMN inbox_queue.tries IS 'How often they were read and matched no request.';
  `);
}

async function makeReports(knex: Knex): Promise<void> {
  await knex.raw(`
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
    COMMENT ON TABLE reports IS 'What each call of the inbox says, and what became of it.';
    COMMENT ON COLUMN reports.state IS
      'Set by the process that applies reports. applied: it decided the outcome of its recipient. unchanged: it '
      'says what was known, or nothing final. conflicting: it says another outcome than the first report did. '
      'unmatched: it belongs to no request. inbound: a reply of a recipient. unreadable: it cannot be read. failed: '
      'it could not be applied.';
    COMMENT ON COLUMN reports.detail IS 'What could not be read or applied, and why; null where all was.';
    COMMENT ON COLUMN reports.job_number IS 'The number that the service gave the message, where the report has one.';
    COMMENT ON COLUMN reports.address IS 'The recipient, or the sender of a reply.';
    COMMENT ON COLUMN reports.status IS 'In the words of the service.';
    COMMENT ON COLUMN reports.result IS 'In the words of the service.';
    COMMENT ON COLUMN reports.outcome IS
      'delivered, undelivered: final. pending: the service is still trying. Null for a reply.';
    COMMENT ON COLUMN reports.sent_at IS 'When the service sent it.';
    COMMENT ON COLUMN reports.units IS 'Parts, pages, seconds: what the service charges for.';
    COMMENT ON COLUMN reports.price IS 'In the currency of the account.';
    COMMENT ON COLUMN reports.text IS 'Of a reply.';
    COMMENT ON COLUMN reports.run_id IS
      'The request and the recipient that it belongs to; null where it matched none.';
    COMMENT ON COLUMN reports.position IS 'The place of the recipient in the request, from 1.';
  `);
}

async function makeCalls(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE polls (
      run_id    text NOT NULL,
      request   integer NOT NULL,
      polled_at timestamptz NOT NULL,
      PRIMARY KEY (run_id, request),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE
    );
    COMMENT ON TABLE polls IS
      'When Volley last asked the service about a request whose delivery reports are missing.';

    CREATE TABLE signed_calls (
      account     text NOT NULL,
      digest      bytea NOT NULL,
      received_at timestamptz NOT NULL,
      PRIMARY KEY (account, digest)
    );
    CREATE INDEX signed_calls_received ON signed_calls (received_at);
    COMMENT ON TABLE signed_calls IS
      'Signed calls of the webhook while their signatures are valid: each is taken once.';
    COMMENT ON COLUMN signed_calls.digest IS 'Of what the signature covers.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE signed_calls, polls, reports, inbox_queue, inbox_batches, inbox');
}
