import type { Knex } from 'knex';

/** Runs, and what belongs to a run as a whole. Every key begins with the run, so that the ledger can be distributed by run. */
export async function up(knex: Knex): Promise<void> {
  await makeRuns(knex);
  await makeMessageIds(knex);
  await makeStates(knex);
  await makeParts(knex);
  await makeChecks(knex);
}

async function makeRuns(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE runs (
      run_id              text PRIMARY KEY,
      run_number          integer GENERATED ALWAYS AS IDENTITY UNIQUE,
      campaign            text NOT NULL,
      account             text NOT NULL,
      channel             text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
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
      suppression_account     text,
      source_run          text REFERENCES runs,
      contacts_read       integer NOT NULL,
      contacts_invalid    integer NOT NULL,
      contacts_duplicate  integer NOT NULL,
      contacts_suppressed integer NOT NULL,
      settled_before      integer NOT NULL DEFAULT 0,
      rejected_before     integer NOT NULL DEFAULT 0,
      created_at          timestamptz NOT NULL,
      finished_at         timestamptz,
      purging             boolean NOT NULL DEFAULT false,
      purged_at           timestamptz
    );
    CREATE INDEX runs_newest ON runs (created_at DESC);
    CREATE INDEX runs_of_source ON runs (source_run) WHERE source_run IS NOT NULL;
    CREATE INDEX runs_unfinished ON runs (run_id) WHERE state IN ('planned', 'running', 'paused');
    CREATE INDEX runs_by_priority ON runs (account, priority) WHERE state IN ('planned', 'running');
    COMMENT ON TABLE runs IS 'One execution of a campaign, with its definition as it was when the run was planned.';
    COMMENT ON COLUMN runs.run_number IS 'What its MessageIDs call it.';
    COMMENT ON COLUMN runs.state IS
      'planned: set when the run is made; nothing of it was sent. running: set when an operator, a caller or a '
      'schedule starts or resumes it; workers send it. completed: set when nothing of it is left to send. paused: '
      'set by an operator, or by Volley when the run cannot go on; it can be resumed. cancelled: set by an '
      'operator; what was not sent never will be.';
    COMMENT ON COLUMN runs.state_reason IS
      'Why it is in its state: null where there is nothing to say, and after a purge; a string in the words of an '
      'operator or a caller; or an object whose kind, with values, is one of these. interrupted: its process was asked '
      'to stop. waits_for_approval: by another person. approved: by that person. all_rejected, too_many_rejected: '
      'failFast. credential_refused: the service did. service_refuses: everything, for longer than the campaign '
      'waits. doubts_reopened: requests are to be sent again. ledger_held: nothing is sent from the ledger. '
      'ledger_restored, untried_proof: it may have been sent by a ledger that is gone.';
    COMMENT ON COLUMN runs.priority IS
      '-1 bulk, 0 normal, 1 urgent. Of the runs of an account, the more urgent ones are sent first.';
    COMMENT ON COLUMN runs.definition IS
      'The campaign, checked and with its defaults; a purge leaves only what names no person.';
    COMMENT ON COLUMN runs.message_key IS
      'Random, for the checks of its MessageIDs: only a holder of the key can make one.';
    COMMENT ON COLUMN runs.rates IS
      'Currency and tariffs of the account for the channel, when the run was planned; null: it has none.';
    COMMENT ON COLUMN runs.suppression_account IS
      'The account whose suppressions hold for the run; null: its own account.';
    COMMENT ON COLUMN runs.source_run IS
      'The run whose recipients this one sends to again. Its contact files are those of this run, too.';
    COMMENT ON COLUMN runs.contacts_read IS
      'Rows of the contact files. The next three columns count those that were left out.';
    COMMENT ON COLUMN runs.settled_before IS
      'Requests that were settled when the run was last resumed: failFast counts from there.';
    COMMENT ON COLUMN runs.rejected_before IS
      'Requests that were rejected when the run was last resumed: failFast counts from there.';
    COMMENT ON COLUMN runs.created_at IS 'When it was planned.';
    COMMENT ON COLUMN runs.finished_at IS 'When it was completed or cancelled.';
    COMMENT ON COLUMN runs.purging IS 'Its purge has begun and has not ended.';
    COMMENT ON COLUMN runs.purged_at IS 'Since when its addresses, names, bodies and files are erased.';
  `);
}

/**
 * A MessageID says run and request, with a keyed check: it is computed where it is wanted, and a request is found by
 * arithmetic (`src/ledger/message-id.ts` has the same rule).
 */
async function makeMessageIds(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION message_id(run_number integer, message_key bytea, request integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(
      int4send(run_number) || int4send(request)
        || substring(sha256(message_key || int4send(run_number) || int4send(request)) FROM 1 FOR 10),
      'hex'
    );
    COMMENT ON FUNCTION message_id IS
      'The MessageID of a request: 8 hex digits of the run''s number, 8 of the request''s, 20 of a check that only a '
      'holder of the key can make.';
  `);
}

async function makeStates(knex: Knex): Promise<void> {
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
      'Every change of the state of a run, so that a report can say when it began, was paused and went on.';
    COMMENT ON COLUMN run_states.change IS 'In the order of the changes.';
    COMMENT ON COLUMN run_states.reason IS 'As in runs.state_reason; a purge erases it.';
    COMMENT ON COLUMN run_states.changed_at IS
      'By the clock of Postgres, except for the first and the last one, which have the times of the run.';
  `);
}

async function makeParts(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_windows (
      run_id   text NOT NULL REFERENCES runs ON DELETE CASCADE,
      window_index smallint NOT NULL,
      zones    text[] NOT NULL,
      send_at  timestamptz,
      opens_at timestamptz,
      closes_at timestamptz,
      PRIMARY KEY (run_id, window_index)
    );
    CREATE INDEX run_windows_opening ON run_windows (opens_at) WHERE opens_at IS NOT NULL;
    COMMENT ON TABLE run_windows IS
      'Sending windows of a run. Recipients whose window follows the same time zones are in requests of their own, '
      'with consecutive numbers, and a slice ends where they end, so a slice has one window. Runs without windows '
      'have no row.';
    COMMENT ON COLUMN run_windows.window_index IS 'In the order of the requests.';
    COMMENT ON COLUMN run_windows.zones IS
      'Names of the IANA database. The window is open while it is open in each of them.';
    COMMENT ON COLUMN run_windows.send_at IS
      'When the service is asked to send, where the window is handed over to it; its requests go out before.';
    COMMENT ON COLUMN run_windows.opens_at IS 'Its requests are not taken before; null: they may be taken now.';
    COMMENT ON COLUMN run_windows.closes_at IS
      'When requests that may be taken now may not be any more. What shuts first is taken first.';

    CREATE TABLE run_files (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      path   text NOT NULL,
      data   bytea NOT NULL,
      PRIMARY KEY (run_id, path)
    );
    COMMENT ON TABLE run_files IS 'Files that requests carry, as they were when the run was planned.';
    COMMENT ON COLUMN run_files.path IS
      'In the folder of the campaign. The name that the recipient sees is in the envelope.';

    CREATE TABLE run_origins (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      origin text NOT NULL REFERENCES runs ON DELETE CASCADE,
      PRIMARY KEY (run_id, origin)
    );
    CREATE INDEX run_origins_origin ON run_origins (origin);
    COMMENT ON TABLE run_origins IS
      'For a run of mended contacts: the runs that its contacts were left out of. It leaves out recipients whom one '
      'of them reached. (runs.source_run is for a run that was made without a file, from the recipients of '
      'another.)';
  `);
}

/** What planning and sending check a run by. */
async function makeChecks(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE fingerprints (
      fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
      run_id      text NOT NULL UNIQUE REFERENCES runs ON DELETE CASCADE,
      PRIMARY KEY (fingerprint, run_id)
    );
    COMMENT ON TABLE fingerprints IS
      'What a run of contact files sends to its recipients, as a digest: planning finds by it a run that would send '
      'the same again.';

    CREATE TABLE approvals (
      run_id          text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      reason          jsonb NOT NULL CHECK (reason ->> 'kind' IN
                        ('every_run', 'many_recipients', 'high_cost', 'unknown_cost')),
      planned_by      text NOT NULL,
      planned_via     text NOT NULL CHECK (planned_via IN ('cli', 'api', 'schedule')),
      folder          text,
      campaign_file   text,
      campaign_sha256 bytea,
      approved_by     text,
      approved_at     timestamptz,
      CHECK ((approved_by IS NULL) = (approved_at IS NULL))
    );
    COMMENT ON TABLE approvals IS
      'Runs that wait, or have waited, for the approval of a second person before anything of them is sent.';
    COMMENT ON COLUMN approvals.reason IS
      'Why the run has to be approved: an object whose kind, with values, is one of these. every_run: of the campaign '
      'has to be. many_recipients, high_cost: more than the campaign allows. unknown_cost: it cannot be told.';
    COMMENT ON COLUMN approvals.planned_by IS 'This person may not approve it.';
    COMMENT ON COLUMN approvals.planned_via IS
      'cli: on the command line, where one system user is one person. api: by a caller with a token. schedule: by a '
      'schedule.';
    COMMENT ON COLUMN approvals.folder IS
      'Absolute: the working folder where it was planned. The campaign and the contact files are named from there.';
    COMMENT ON COLUMN approvals.campaign_file IS
      'Null for a run that was made from another.';
    COMMENT ON COLUMN approvals.campaign_sha256 IS 'Of the campaign file as it was planned.';

    CREATE TABLE untried_proofs (
      run_id     text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      message_id text NOT NULL
    );
    COMMENT ON TABLE untried_proofs IS
      'Runs of which a delivery report proved a request that this ledger never tried: another copy of the ledger '
      'has sent them. A worker puts what is planned of them in doubt, and deletes the row.';
    COMMENT ON COLUMN untried_proofs.message_id IS 'What the report names.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE untried_proofs, approvals, fingerprints, run_origins, run_files, run_windows, run_states, runs;
    DROP FUNCTION message_id;
  `);
}
