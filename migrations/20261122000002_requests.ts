import type { Knex } from 'knex';

/**
 * Single requests and recipients. An ordinary request has no row (docs/reference/ledger.md). A recipient gets one with its own
 * outcome: a delivery report, or a suppression after planning.
 *
 * No index contains a request's state, and pages are more than half empty, so claims and settlements update rows in
 * place (HOT). Attempts and recipient_outcomes have no foreign key, which would cost 4 µs: the statement that writes
 * them has locked or found the request.
 */
export async function up(knex: Knex): Promise<void> {
  await createRequests(knex);
  await createAttempts(knex);
  await createAnswers(knex);
  await createRecipients(knex);
}

async function createRequests(knex: Knex): Promise<void> {
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
    -- Both columns never change, and requests that were not divided are not in it.
    CREATE INDEX requests_divided ON requests (run_id, divided_from) WHERE divided_from IS NOT NULL;
    COMMENT ON TABLE requests IS
      'Requests that were not simply sent once and accepted. request_states has all requests.';
    COMMENT ON COLUMN requests.state IS
      'planned: to be sent. sending: its owner has claimed it, and may have sent it. accepted: the service has it. '
      'rejected: the service refused it. failed: it provably never reached the service, and Volley does not retry '
      'it. in_doubt: it was sent, and the service may have it. cancelled: it stays unsent, because the run was '
      'cancelled or all its recipients were suppressed. abandoned: an operator gave it up in doubt.';
    COMMENT ON COLUMN requests.reason IS
      'Why the request is in its state. A string has the words of the service, or of the failure on the way to it. '
      'An object has a kind, and values. job_number: the service accepted it under this number. reported: a '
      'delivery report or a reply proves acceptance. looked_up: the status look-up answered. worker_ended: its '
      'worker ended before it recorded the answer. resent: it was sent again after a doubt, and ended in this '
      'state. run_cancelled: its run was cancelled. run_cancelled_before_resend: the same, before a resend. '
      'all_suppressed: all its recipients are suppressed. all_suppressed_before_resend: the same, before a resend. '
      'suppressed: this recipient is suppressed. withheld: it was not allowed to leave. claim_unanswered: the '
      'answer to its claim was lost, so it was not sent. resolved: an operator resolved it. ledger_restored, '
      'untried_proof: another copy of the ledger may have sent it.';
    COMMENT ON COLUMN requests.owner IS 'The owner of its slice that claimed it; null: settled.';
    COMMENT ON COLUMN requests.resends IS 'How often it was sent again although the service may have had it.';
    COMMENT ON COLUMN requests.divided_from IS 'The rejected request whose recipients it takes a part of.';
    COMMENT ON COLUMN requests.reported IS
      'A delivery report proves acceptance before the answer is recorded. It is a column of this row because a '
      'statement that waits for the row sees only this row''s changes.';

    CREATE TABLE early_proofs (
      run_id  text NOT NULL REFERENCES runs ON DELETE CASCADE,
      request integer NOT NULL,
      PRIMARY KEY (run_id, request)
    );
    COMMENT ON TABLE early_proofs IS
      'Requests without a row whose acceptance a delivery report proves. When one gets a row, its reported is set.';
  `);
}

async function createAttempts(knex: Knex): Promise<void> {
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
    COMMENT ON TABLE attempts IS 'Attempts of requests that have a row. all_attempts has all attempts.';
    COMMENT ON COLUMN attempts.owner IS 'The slice owner that made it.';
    COMMENT ON COLUMN attempts.verdict IS
      'accepted: the service has the request. rejected: the service refused it. unauthorized: the service refused '
      'the credentials; the request is planned again. retry: the service does not have it; its owner sends it '
      'again. failed: the service does not have it; Volley does not retry it. in_doubt: the service may have it. '
      'released: the service does not have it; the request is planned again. Null: nothing is recorded yet.';
    COMMENT ON COLUMN attempts.detail IS 'As requests.reason, for this attempt.';
  `);
}

async function createAnswers(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE job_numbers (
      job_number  text NOT NULL,
      account     text NOT NULL,
      run_id      text NOT NULL,
      request     integer NOT NULL,
      answered_at timestamptz NOT NULL,
      -- Look-ups know the number, not the run.
      PRIMARY KEY (job_number, account, run_id, request)
    );
    COMMENT ON TABLE job_numbers IS
      'Numbers that the service gave to requests: a delivery report may contain nothing else. Services of two '
      'accounts may use the same number, a service may reuse one after years, and a request sent twice may have '
      'two.';
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
    COMMENT ON TABLE resolutions IS 'Decisions of operators about requests in doubt.';
    COMMENT ON COLUMN resolutions.resolution IS
      'accepted: the service has it. resend: send it again. abandon: give it up; its recipients stay unknown.';
    COMMENT ON COLUMN resolutions.resolved_by IS 'The operator.';
    COMMENT ON COLUMN resolutions.reason IS 'In the operator''s words.';
  `);
}

async function createRecipients(knex: Knex): Promise<void> {
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
    -- Billing excludes suppressed recipients.
    CREATE INDEX recipient_outcomes_cancelled ON recipient_outcomes (run_id, request, position)
      WHERE outcome = 'cancelled';
    -- For reports that are read again, and for purging old ones.
    CREATE INDEX recipient_outcomes_report ON recipient_outcomes (report_id) WHERE report_id IS NOT NULL;
    COMMENT ON TABLE recipient_outcomes IS
      'Outcomes of single recipients. Recipients without a row follow the state of their request.';
    COMMENT ON COLUMN recipient_outcomes.position IS 'The recipient''s position in the request, from 1.';
    COMMENT ON COLUMN recipient_outcomes.outcome IS
      'delivered, undelivered: a delivery report says so. cancelled: the address was suppressed after planning, so '
      'the worker that claimed the request left the recipient out.';
    COMMENT ON COLUMN recipient_outcomes.result IS 'In the service''s words; null for cancelled.';
    COMMENT ON COLUMN recipient_outcomes.units IS 'Parts, pages or seconds that the service charges for.';
    COMMENT ON COLUMN recipient_outcomes.price IS 'In the account''s currency.';
    COMMENT ON COLUMN recipient_outcomes.report_id IS 'The delivery report that decided; null for cancelled.';
    COMMENT ON COLUMN recipient_outcomes.status IS
      'With the next two columns: from the deciding delivery report, where it has no row of its own.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE recipient_outcomes, resolutions, job_numbers, attempts, early_proofs, requests');
}
