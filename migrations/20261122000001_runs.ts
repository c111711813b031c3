import type { Knex } from 'knex';

/** Runs and their parts. Every key begins with the run, so that the ledger can be distributed by run. */
export async function up(knex: Knex): Promise<void> {
  await createRuns(knex);
  await commentRuns(knex);
  await createMessageIds(knex);
  await createStates(knex);
  await createWindowsFilesAndOrigins(knex);
  await createChecks(knex);
}

async function createRuns(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE runs (
      run_id              text PRIMARY KEY,
      run_number          integer GENERATED ALWAYS AS IDENTITY UNIQUE,
      campaign            text NOT NULL,
      account             text NOT NULL,
      channel             text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      kind                text NOT NULL DEFAULT 'ordinary' CHECK (kind IN ('ordinary', 'test')),
      state               text NOT NULL DEFAULT 'planned' CHECK (state IN
                            ('planned', 'running', 'completed', 'paused', 'cancelled')),
      state_reason        jsonb CHECK (state_reason ->> 'kind' IN
                            ('interrupted', 'waits_for_approval', 'approved', 'all_rejected', 'too_many_rejected',
                             'credential_refused', 'service_refuses', 'doubts_reopened', 'ledger_held',
                             'ledger_restored', 'untried_proof')),
      priority            smallint NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1 AND 1),
      definition          jsonb NOT NULL,
      message_key         bytea NOT NULL CHECK (length(message_key) >= 16),
      rates               jsonb,
      suppression_account text,
      source_run          text REFERENCES runs,
      contacts_read       integer NOT NULL,
      contacts_invalid    integer NOT NULL,
      contacts_duplicate  integer NOT NULL,
      contacts_suppressed integer NOT NULL,
      contacts_beyond_limit integer,
      settled_before      integer NOT NULL DEFAULT 0,
      rejected_before     integer NOT NULL DEFAULT 0,
      created_at          timestamptz NOT NULL,
      finished_at         timestamptz,
      purging             boolean NOT NULL DEFAULT false,
      purged_at           timestamptz
    );
    CREATE INDEX runs_newest ON runs (created_at DESC);
    CREATE INDEX runs_of_campaign ON runs (campaign, created_at DESC, run_id DESC);
    -- An operator names a run by the beginning of its id. The primary key has the order of a language.
    CREATE INDEX runs_by_prefix ON runs (run_id text_pattern_ops);
    CREATE INDEX runs_of_source ON runs (source_run) WHERE source_run IS NOT NULL;
    CREATE INDEX runs_unfinished ON runs (run_id) WHERE state IN ('planned', 'running', 'paused');
    CREATE INDEX runs_by_priority ON runs (account, priority) WHERE state IN ('planned', 'running');
  `);
}

async function commentRuns(knex: Knex): Promise<void> {
  await knex.raw(`
    COMMENT ON TABLE runs IS 'One execution of a campaign, with the definition that it had when it was planned.';
    COMMENT ON COLUMN runs.run_number IS 'Identifies the run in its MessageIDs.';
    COMMENT ON COLUMN runs.kind IS
      'ordinary: sends to its contacts. test: rows of the contact files, sent to addresses of the operator; only '
      'billing counts it, as a test.';
    COMMENT ON COLUMN runs.state IS
      'planned: the run exists and nothing is sent. running: an operator, a caller or a schedule has started or '
      'resumed it; workers send it. completed: nothing is left to send. paused: an operator paused it, or Volley, '
      'because it cannot go on; it can be resumed. cancelled: an operator cancelled it; its unsent requests stay '
      'unsent.';
    COMMENT ON COLUMN runs.state_reason IS
      'Why the run is in its state; null: no reason, or purged. A string has the words of an operator or a caller. '
      'An object has a kind, and values. interrupted: its process was asked to stop. waits_for_approval: another '
      'person has to approve it. approved: another person approved it. all_rejected, too_many_rejected: failFast '
      'stopped it. credential_refused: the service refused the credentials. service_refuses: the service refused '
      'everything for longer than the campaign waits. doubts_reopened: requests will be sent again. ledger_held: '
      'the ledger is held, so nothing is sent. ledger_restored, untried_proof: another copy of the ledger may have '
      'sent it.';
    COMMENT ON COLUMN runs.priority IS
      '-1 bulk, 0 normal, 1 urgent. Within an account, workers send more urgent runs first.';
    COMMENT ON COLUMN runs.definition IS
      'The validated campaign with its defaults. A purge keeps only parts without personal data.';
    COMMENT ON COLUMN runs.message_key IS 'Random key for the checks in MessageIDs: only its holder can make one.';
    COMMENT ON COLUMN runs.rates IS
      'Currency and tariffs of the account for the channel at planning time; null: the account has none.';
    COMMENT ON COLUMN runs.suppression_account IS 'The account whose suppressions apply; null: its own.';
    COMMENT ON COLUMN runs.source_run IS 'The run that a rerun takes its recipients and contact files from.';
    COMMENT ON COLUMN runs.contacts_read IS 'Rows of the contact files. The next three columns count rejected rows.';
    COMMENT ON COLUMN runs.contacts_beyond_limit IS
      'Rows that would be recipients without --limit. A later run can send to them. Null: the run has no limit.';
    COMMENT ON COLUMN runs.settled_before IS
      'Requests settled when the run was last resumed. failFast counts from there.';
    COMMENT ON COLUMN runs.rejected_before IS
      'Requests rejected when the run was last resumed. failFast counts from there.';
    COMMENT ON COLUMN runs.created_at IS 'When it was planned.';
    COMMENT ON COLUMN runs.finished_at IS 'When it was completed or cancelled.';
    COMMENT ON COLUMN runs.purging IS 'Its purge has begun and not ended.';
    COMMENT ON COLUMN runs.purged_at IS 'When the purge of its addresses, names, bodies and files began.';
  `);
}

/** A MessageID contains run and request, so nothing stores it (`src/ledger/message-id.ts` computes the same). */
async function createMessageIds(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION message_id(run_number integer, message_key bytea, request integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(
      int4send(run_number) || int4send(request)
        || substring(sha256(message_key || int4send(run_number) || int4send(request)) FROM 1 FOR 10),
      'hex'
    );
    COMMENT ON FUNCTION message_id IS
      'The MessageID of a request: 8 hex digits of the run number, 8 of the request, and a check of 20 that needs '
      'the key.';
  `);
}

async function createStates(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_states (
      run_id     text NOT NULL REFERENCES runs ON DELETE CASCADE,
      change     bigint GENERATED ALWAYS AS IDENTITY,
      state      text NOT NULL,
      reason     jsonb CHECK (reason ->> 'kind' IN
                   ('interrupted', 'waits_for_approval', 'approved', 'all_rejected', 'too_many_rejected',
                    'credential_refused', 'service_refuses', 'doubts_reopened', 'ledger_held', 'ledger_restored',
                    'untried_proof')),
      changed_at timestamptz NOT NULL,
      PRIMARY KEY (run_id, change)
    );
    COMMENT ON TABLE run_states IS
      'Every change of a run''s state, for reports of when it started, paused and continued.';
    COMMENT ON COLUMN run_states.change IS 'Increases with each change.';
    COMMENT ON COLUMN run_states.reason IS 'As in runs.state_reason; a purge erases it.';
    COMMENT ON COLUMN run_states.changed_at IS
      'By the clock of Postgres; the first and last change have the times of the run.';
  `);
}

async function createWindowsFilesAndOrigins(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_windows (
      run_id       text NOT NULL REFERENCES runs ON DELETE CASCADE,
      window_index smallint NOT NULL,
      zones        text[] NOT NULL,
      send_at      timestamptz,
      opens_at     timestamptz,
      closes_at    timestamptz,
      PRIMARY KEY (run_id, window_index)
    );
    CREATE INDEX run_windows_opening ON run_windows (opens_at) WHERE opens_at IS NOT NULL;
    COMMENT ON TABLE run_windows IS
      'Sending windows of a run, one row for each set of time zones. Recipients of a window have requests of their '
      'own, with consecutive numbers. A slice has one window. A run without windows has no row.';
    COMMENT ON COLUMN run_windows.window_index IS 'From 1, in the order of the requests.';
    COMMENT ON COLUMN run_windows.zones IS 'IANA time zones. The window is open while it is open in all of them.';
    COMMENT ON COLUMN run_windows.send_at IS
      'When the service is asked to send, if Volley hands the window over to it. Workers send the requests before.';
    COMMENT ON COLUMN run_windows.opens_at IS 'Workers do not acquire its slices before this time; null: they may.';
    COMMENT ON COLUMN run_windows.closes_at IS
      'When an open window closes. Workers send the window that closes first.';

    CREATE TABLE run_files (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      path   text NOT NULL,
      data   bytea NOT NULL,
      PRIMARY KEY (run_id, path)
    );
    COMMENT ON TABLE run_files IS 'Files that requests carry, as they were at planning time.';
    COMMENT ON COLUMN run_files.path IS
      'Relative to the campaign folder. The name that the recipient sees is in the envelope.';

    CREATE TABLE run_origins (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      origin text NOT NULL REFERENCES runs ON DELETE CASCADE,
      PRIMARY KEY (run_id, origin)
    );
    CREATE INDEX run_origins_origin ON run_origins (origin);
    COMMENT ON TABLE run_origins IS
      'Earlier runs that rejected the contacts which this run sends to after correction. It excludes recipients '
      'that one of them reached. A rerun has runs.source_run instead.';
  `);
}

async function createChecks(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE fingerprints (
      fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
      run_id      text NOT NULL UNIQUE REFERENCES runs ON DELETE CASCADE,
      PRIMARY KEY (fingerprint, run_id)
    );
    COMMENT ON TABLE fingerprints IS
      'A digest of what a run of contact files sends to which recipients. Planning uses it to find a run that would '
      'send the same again.';

    CREATE TABLE run_plans (
      plan   text PRIMARY KEY,
      run_id text NOT NULL UNIQUE REFERENCES runs ON DELETE CASCADE
    );
    COMMENT ON TABLE run_plans IS 'Runs that were made from a plan file. Each plan file makes one run.';
    COMMENT ON COLUMN run_plans.plan IS 'The random id in the plan file.';

    CREATE TABLE approvals (
      run_id          text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      reason          jsonb NOT NULL CHECK (reason ->> 'kind' IN
                        ('every_run', 'many_recipients', 'high_cost', 'unknown_cost')),
      planned_by      text NOT NULL,
      planned_via     text NOT NULL CHECK (planned_via IN ('cli', 'api', 'dashboard', 'schedule')),
      folder          text,
      campaign_file   text,
      campaign_sha256 bytea,
      approved_by     text,
      approved_at     timestamptz,
      CHECK ((approved_by IS NULL) = (approved_at IS NULL))
    );
    COMMENT ON TABLE approvals IS
      'Runs that need, or needed, the approval of a second person before anything is sent.';
    COMMENT ON COLUMN approvals.reason IS
      'Why the run needs approval: an object with a kind, and values. every_run: every run of the campaign needs '
      'it. many_recipients, high_cost: more than the campaign allows. unknown_cost: its cost cannot be estimated.';
    COMMENT ON COLUMN approvals.planned_by IS 'The person who planned it, and may not approve it.';
    COMMENT ON COLUMN approvals.planned_via IS
      'cli: on the command line, where a system user is a person. api: a caller with a token. '
      'dashboard: a person who signed in. schedule: a schedule.';
    COMMENT ON COLUMN approvals.folder IS
      'Absolute path of the working folder at planning time. Paths of the campaign and contact files start there.';
    COMMENT ON COLUMN approvals.campaign_file IS 'Null: a rerun.';
    COMMENT ON COLUMN approvals.campaign_sha256 IS 'Of the campaign file at planning time.';

    CREATE TABLE untried_proofs (
      run_id     text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      message_id text NOT NULL
    );
    COMMENT ON TABLE untried_proofs IS
      'Runs with a delivery report for a request that this ledger never tried: another copy of the ledger sent it. '
      'A worker marks their planned requests as in doubt and deletes the row.';
    COMMENT ON COLUMN untried_proofs.message_id IS 'The MessageID in the delivery report.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE untried_proofs, approvals, run_plans, fingerprints, run_origins, run_files, run_windows, run_states, runs;
    DROP FUNCTION message_id;
  `);
}
