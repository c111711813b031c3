import type { Knex } from 'knex';

/**
 * The requests of a run, their content, and what becomes of them and of their recipients.
 *
 * A request's recipients lie together in one row, its chunk: they are planned, read and sent together, and what becomes
 * of all of them follows from the request's state. A recipient has a row of its own from the moment something is known
 * of it alone: a delivery report, or a suppression after the run was planned.
 *
 * A CHECK is made anew at every change of a row, whatever it changes; a domain's when a value is made, so a MessageID is
 * matched once (4 µs) and not three times. No index knows a request's state, and with more than half of every page left
 * free a request is claimed and settled in place, without touching an index. Attempts and outcomes have no foreign key:
 * each is written in the statement that has locked or found its request (4 µs).
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE DOMAIN message_id AS text CHECK (VALUE ~ '^[0-9A-Za-z]{1,40}$');

    -- Without a foreign key: looked up for each of a million envelopes, it takes a third of the time to write them.
    CREATE TABLE envelopes (
      run_id       text NOT NULL,
      envelope     integer NOT NULL,
      fields       jsonb NOT NULL,
      keypads      jsonb NOT NULL DEFAULT '[]',
      files        jsonb NOT NULL DEFAULT '[]',
      audio        jsonb NOT NULL DEFAULT '{}',
      sub_account  text,
      department   text,
      charge_code  text,
      window_place smallint,
      PRIMARY KEY (run_id, envelope)
    );
    COMMENT ON TABLE envelopes IS
      'Values of a whole request: message content, files and payer. Requests with the same values share one row.';
    COMMENT ON COLUMN envelopes.fields IS
      'Fields of the message with their values, under the names of the interface.';
    COMMENT ON COLUMN envelopes.keypads IS 'Keypad options of voice messages, as they are sent.';
    COMMENT ON COLUMN envelopes.files IS 'Path and name of each file; the path is that of run_files.';
    COMMENT ON COLUMN envelopes.audio IS 'Audio of voice messages: the path of a file for each field.';
    COMMENT ON COLUMN envelopes.sub_account IS
      'The payer, with department and charge_code; taken from fields for billing.';
    COMMENT ON COLUMN envelopes.window_place IS
      'The place of its window in run_windows; null: the run has no window.';

    CREATE TABLE requests (
      run_id       text NOT NULL,
      request      integer NOT NULL,
      message_id   message_id NOT NULL,
      envelope     integer NOT NULL,
      recipients   integer NOT NULL CHECK (recipients >= 0),
      state        text NOT NULL DEFAULT 'planned' CHECK (state IN
                     ('planned', 'sending', 'accepted', 'rejected', 'failed', 'in_doubt', 'cancelled', 'abandoned')),
      reason       text,
      owner        uuid,
      attempts     integer NOT NULL DEFAULT 0,
      -- How often it was sent again though the service may have had it.
      resends      integer NOT NULL DEFAULT 0,
      -- The rejected request whose recipients this one has a part of.
      divided_from integer,
      -- A delivery report has proved that the service has the request, before its answer is recorded. It is in the row
      -- itself, because a statement that waited for the row sees what has become of that, and of no other.
      reported     boolean NOT NULL DEFAULT false,
      updated_at   timestamptz,
      PRIMARY KEY (run_id, request),
      FOREIGN KEY (run_id, envelope) REFERENCES envelopes ON DELETE CASCADE,
      CHECK ((state = 'sending') = (owner IS NOT NULL))
    ) WITH (fillfactor = 40);
    CREATE INDEX requests_message_id ON requests (message_id);
    -- Of a request that was not divided it has nothing; and neither column ever changes.
    CREATE INDEX requests_divided ON requests (run_id, divided_from) WHERE divided_from IS NOT NULL;

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
      PRIMARY KEY (run_id, request, attempt)
    ) WITH (fillfactor = 40);

    CREATE TABLE chunks (
      run_id             text NOT NULL,
      request            integer NOT NULL,
      lines              integer[] NOT NULL,
      addresses          text[] NOT NULL,
      -- As the file has them; NULL where they are the same as the address.
      original_addresses text[] NOT NULL,
      -- SMS parts as they were counted; NULL in other channels.
      parts              smallint[] NOT NULL,
      -- The tariff of each recipient among those of the run's rates; NULL: the first one for all.
      tariffs            smallint[],
      -- A JSON array with the destination fields other than Recipient of each; text, because it is only read whole.
      destinations       text NOT NULL,
      PRIMARY KEY (run_id, request),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE,
      CHECK (cardinality(addresses) = cardinality(lines)
         AND cardinality(original_addresses) = cardinality(lines)
         AND cardinality(parts) = cardinality(lines))
    );

    -- A range of a run's requests, which one worker holds at a time. Its job in the queue (pg-boss) is 'job', and 'owner'
    -- fences what is sent under one holding of it. 'worker' names the process, whose session keeps an advisory lock, so
    -- that its death shows at once. One slice of a run has no requests: its phase is that in which the requests in doubt of the
    -- whole run are settled, once all others are done.
    CREATE TABLE slices (
      run_id        text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice         integer NOT NULL,
      phase         text NOT NULL DEFAULT 'sending' CHECK (phase IN ('sending', 'settling doubts')),
      first_request integer,
      last_request  integer,
      state         text NOT NULL CHECK (state IN ('waiting', 'queued', 'held', 'done')),
      job           uuid,
      worker        uuid,
      owner         uuid,
      -- Counted as they are recorded, for progress and failFast; the truth is in requests.
      settled       integer NOT NULL DEFAULT 0,
      rejected      integer NOT NULL DEFAULT 0,
      not_accepted  integer NOT NULL DEFAULT 0,
      window_place  smallint,
      PRIMARY KEY (run_id, slice),
      CHECK (last_request >= first_request),
      CHECK ((phase = 'sending') = (first_request IS NOT NULL) AND (phase = 'sending') = (last_request IS NOT NULL)),
      CHECK ((state IN ('queued', 'held')) = (job IS NOT NULL)),
      CHECK ((state = 'held') = (worker IS NOT NULL)),
      CHECK ((state = 'held') = (owner IS NOT NULL))
    );
    COMMENT ON COLUMN slices.phase IS
      'settling doubts: it has no requests, and stands for what can be done about the doubts of the run when all else is done.';
    CREATE INDEX slices_held ON slices (worker) WHERE state = 'held';

    CREATE TABLE jobs (
      job_number  text NOT NULL,
      account     text NOT NULL,
      run_id      text NOT NULL,
      request     integer NOT NULL,
      answered_at timestamptz NOT NULL,
      -- It is looked for by its number: the run is what is not known.
      PRIMARY KEY (job_number, account, run_id, request)
    );
    COMMENT ON TABLE jobs IS
      'The number that the service gave a request in its answer: a delivery report may name this number only. The '
      'services of two accounts may give the same number, one service may give it again after years, and a request '
      'that was sent twice may have two.';
    COMMENT ON COLUMN jobs.job_number IS 'In capitals.';

    CREATE TABLE resolutions (
      run_id      text NOT NULL,
      request     integer NOT NULL,
      resolved_at timestamptz NOT NULL,
      resolution  text NOT NULL CHECK (resolution IN ('accepted', 'resend', 'abandon')),
      resolved_by text NOT NULL,
      reason      text NOT NULL,
      PRIMARY KEY (run_id, request, resolved_at),
      FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE
    );
    COMMENT ON TABLE resolutions IS 'What an operator decided about a request in doubt.';
    COMMENT ON COLUMN resolutions.resolution IS
      'accepted: the service has it. resend: send it again. abandon: give it up; its recipients stay unknown.';
    COMMENT ON COLUMN resolutions.resolved_by IS 'The operator.';
    COMMENT ON COLUMN resolutions.reason IS 'In the words of the operator.';

    CREATE TABLE recipient_outcomes (
      run_id      text NOT NULL,
      request     integer NOT NULL,
      position    integer NOT NULL,
      outcome     text NOT NULL CHECK (outcome IN ('delivered', 'undelivered', 'cancelled')),
      result      text,
      units       numeric,
      price       numeric,
      reported_at timestamptz NOT NULL,
      report_id   bigint,
      PRIMARY KEY (run_id, request, position)
    );
    -- Billing takes out the recipients that were left out of a request.
    CREATE INDEX recipient_outcomes_cancelled ON recipient_outcomes (run_id, request, position)
      WHERE outcome = 'cancelled';
    COMMENT ON TABLE recipient_outcomes IS
      'What is known of one recipient alone. Recipients without a row follow from the state of their request.';
    COMMENT ON COLUMN recipient_outcomes.position IS 'The place of the recipient in the request, from 1.';
    COMMENT ON COLUMN recipient_outcomes.outcome IS
      'delivered, undelivered: set when a delivery report is applied. cancelled: the recipient was left out of the '
      'request, because the address was suppressed after the run was planned; set by the worker that claims it.';
    COMMENT ON COLUMN recipient_outcomes.result IS 'In the words of the service, or why the recipient was left out.';
    COMMENT ON COLUMN recipient_outcomes.units IS 'Parts, pages, seconds: what the service charges for.';
    COMMENT ON COLUMN recipient_outcomes.price IS 'In the currency of the account.';
    COMMENT ON COLUMN recipient_outcomes.report_id IS 'The report that decided; null for cancelled.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE recipient_outcomes, resolutions, jobs, slices, chunks, attempts, requests, envelopes;
    DROP DOMAIN message_id;
  `);
}
