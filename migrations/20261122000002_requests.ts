import type { Knex } from 'knex';

/**
 * What becomes of single requests, and of single recipients. An ordinary request has no row (docs/ledger.md), and a recipient
 * has one from the moment something is known of it alone: a delivery report, or a suppression after the run was planned.
 *
 * No index knows a request's state, and with more than half of every page left free a request is claimed and settled in
 * place, without touching an index. Attempts and recipient_outcomes have no foreign key: each is written in the statement
 * that has locked or found its request (4 µs).
 */
export async function up(knex: Knex): Promise<void> {
  await makeRequests(knex);
  await makeAttempts(knex);
  await makeAnswers(knex);
  await makeRecipients(knex);
}

async function makeRequests(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE requests (
      run_id       text NOT NULL REFERENCES runs ON DELETE CASCADE,
      request      integer NOT NULL,
      envelope     integer NOT NULL,
      recipients   integer NOT NULL CHECK (recipients >= 0),
      state        text NOT NULL DEFAULT 'planned' CHECK (state IN
                     ('planned', 'sending', 'accepted', 'rejected', 'failed', 'in_doubt', 'cancelled', 'abandoned')),
      reason       jsonb CHECK (reason ->> 'kind' IN
                     ('job_number', 'reported', 'looked_up', 'worker_ended', 'resent', 'run_cancelled',
                      'run_cancelled_before_resend', 'all_suppressed', 'all_suppressed_before_resend', 'suppressed',
                      'withheld', 'claim_unanswered', 'resolved', 'ledger_restored', 'untried_proof')),
      owner        uuid,
      attempts     integer NOT NULL DEFAULT 0,
      resends      integer NOT NULL DEFAULT 0,
      divided_from integer,
      reported     boolean NOT NULL DEFAULT false,
      updated_at   timestamptz,
      PRIMARY KEY (run_id, request),
      CHECK ((state = 'sending') = (owner IS NOT NULL))
    ) WITH (fillfactor = 40);
    -- Of a request that was not divided it has nothing; and neither column ever changes.
    CREATE INDEX requests_divided ON requests (run_id, divided_from) WHERE divided_from IS NOT NULL;
    COMMENT ON TABLE requests IS
      'Requests of which more is to be said than that they were sent once and accepted. request_states has them all.';
    COMMENT ON COLUMN requests.state IS
      'planned: to be sent. sending: its owner has claimed it, and may have sent it. accepted: the service has it. '
      'rejected: the service refused it. failed: it provably never reached the service, and is not tried again. '
      'in_doubt: it was sent, and whether the service has it is not known. cancelled: it was not sent and will not be, '
      'because the run was cancelled or all its recipients were suppressed. abandoned: an operator gave it up in doubt.';
    COMMENT ON COLUMN requests.reason IS
      'Why it is in its state: a string in the words of the service, or of what failed on the way to it; or an object '
      'whose kind, with values, is one of these. job_number: it is accepted under this number. reported: a delivery report or a '
      'reply proves it. looked_up: the status look-up does. worker_ended: its worker ended before the answer was '
      'recorded. resent: it was sent again after a doubt, and ended in this state. run_cancelled: its run was. '
      'run_cancelled_before_resend: the same, while it was to be sent again after a doubt. all_suppressed: all its '
      'recipients are. all_suppressed_before_resend: the same, while it was to be sent again. suppressed: this '
      'recipient is. withheld: it might not leave then. claim_unanswered: the answer to the claim was lost before it '
      'was sent. resolved: by an operator. ledger_restored, untried_proof: it may have been sent by a ledger that is '
      'gone.';
    COMMENT ON COLUMN requests.owner IS 'The owner of its slice, by whom it was claimed; null once it is settled.';
    COMMENT ON COLUMN requests.resends IS 'How often it was sent again though the service may have had it.';
    COMMENT ON COLUMN requests.divided_from IS 'The rejected request of whose recipients this one has a part.';
    COMMENT ON COLUMN requests.reported IS
      'A delivery report has proved that the service has it, before its answer is recorded. It is in the row itself, '
      'because a statement that waited for the row sees what has become of that, and of no other.';

    CREATE TABLE early_proofs (
      run_id  text NOT NULL REFERENCES runs ON DELETE CASCADE,
      request integer NOT NULL,
      PRIMARY KEY (run_id, request)
    );
    COMMENT ON TABLE early_proofs IS
      'Requests that had no row when a delivery report proved that the service has them. Where one gets a row, the '
      'row is made with reported set.';
  `);
}

async function makeAttempts(knex: Knex): Promise<void> {
  await knex.raw(`
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
      detail      jsonb CHECK (detail ->> 'kind' IN
                    ('job_number', 'reported', 'looked_up', 'worker_ended', 'resent', 'run_cancelled',
                     'run_cancelled_before_resend', 'all_suppressed', 'all_suppressed_before_resend', 'suppressed',
                     'withheld', 'claim_unanswered', 'resolved', 'ledger_restored', 'untried_proof')),
      PRIMARY KEY (run_id, request, attempt)
    ) WITH (fillfactor = 40);
    COMMENT ON TABLE attempts IS 'Attempts of the requests that have a row. all_attempts has them all.';
    COMMENT ON COLUMN attempts.owner IS 'The owner of the slice that made it.';
    COMMENT ON COLUMN attempts.verdict IS
      'accepted: the service has the request. rejected: it refused it. unauthorized: it refused the credentials; the '
      'request is planned again. retry: it did not take the request, which its owner sends again. failed: it did not '
      'take the request, which is not tried again. in_doubt: whether it has the request is not known. released: it did '
      'not take the request, which is planned again. Null: nothing is recorded yet.';
    COMMENT ON COLUMN attempts.detail IS 'As requests.reason, of this attempt.';
  `);
}

async function makeAnswers(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE job_numbers (
      job_number  text NOT NULL,
      account     text NOT NULL,
      run_id      text NOT NULL,
      request     integer NOT NULL,
      answered_at timestamptz NOT NULL,
      -- It is looked for by its number: the run is what is not known.
      PRIMARY KEY (job_number, account, run_id, request)
    );
    COMMENT ON TABLE job_numbers IS
      'The number that the service gave a request in its answer: a delivery report may name this number only. The '
      'services of two accounts may give the same number, one service may give it again after years, and a request '
      'that was sent twice may have two.';
    COMMENT ON COLUMN job_numbers.job_number IS 'In capitals.';

    CREATE TABLE resolutions (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      request     integer NOT NULL,
      resolved_at timestamptz NOT NULL,
      resolution  text NOT NULL CHECK (resolution IN ('accepted', 'resend', 'abandon')),
      resolved_by text NOT NULL,
      reason      text NOT NULL,
      PRIMARY KEY (run_id, request, resolved_at)
    );
    COMMENT ON TABLE resolutions IS 'What an operator decided about a request in doubt.';
    COMMENT ON COLUMN resolutions.resolution IS
      'accepted: the service has it. resend: send it again. abandon: give it up; its recipients stay unknown.';
    COMMENT ON COLUMN resolutions.resolved_by IS 'The operator.';
    COMMENT ON COLUMN resolutions.reason IS 'In the words of the operator.';
  `);
}

async function makeRecipients(knex: Knex): Promise<void> {
  await knex.raw(`
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
      status      text,
      job_number  text,
      sent_at     timestamptz,
      PRIMARY KEY (run_id, request, position)
    );
    -- Billing takes out the recipients that were left out of a request.
    CREATE INDEX recipient_outcomes_cancelled ON recipient_outcomes (run_id, request, position)
      WHERE outcome = 'cancelled';
    -- By the key of the report, for when it is read again, and when what is old is purged.
    CREATE INDEX recipient_outcomes_report ON recipient_outcomes (report_id) WHERE report_id IS NOT NULL;
    COMMENT ON TABLE recipient_outcomes IS
      'What is known of one recipient alone. Recipients without a row follow from the state of their request.';
    COMMENT ON COLUMN recipient_outcomes.position IS 'The place of the recipient in the request, from 1.';
    COMMENT ON COLUMN recipient_outcomes.outcome IS
      'delivered, undelivered: set when a delivery report is applied. cancelled: the recipient was left out of the '
      'request, because the address was suppressed after the run was planned; set by the worker that claims it.';
    COMMENT ON COLUMN recipient_outcomes.result IS 'In the words of the service; null for cancelled.';
    COMMENT ON COLUMN recipient_outcomes.units IS 'Parts, pages, seconds: what the service charges for.';
    COMMENT ON COLUMN recipient_outcomes.price IS 'In the currency of the account.';
    COMMENT ON COLUMN recipient_outcomes.report_id IS 'The report that decided; null for cancelled.';
    COMMENT ON COLUMN recipient_outcomes.status IS
      'As it and the next two are in the report that decided, where that has no row of its own.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE recipient_outcomes, resolutions, job_numbers, attempts, early_proofs, requests');
}
