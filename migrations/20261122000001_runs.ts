import type { Knex } from 'knex';

/** Runs, and what belongs to a run as a whole. Every key begins with the run, so that the ledger can be distributed by run. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE runs (
      run_id              text PRIMARY KEY,
      campaign            text NOT NULL,
      account             text NOT NULL,
      channel             text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      state               text NOT NULL CHECK (state IN
                            ('planned', 'running', 'completed', 'paused', 'cancelled')),
      state_reason        text,
      priority            smallint NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1 AND 1),
      definition          jsonb NOT NULL,
      message_key         bytea NOT NULL CHECK (length(message_key) >= 16),
      rates               jsonb,
      suppressions_of     text,
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

    CREATE TABLE run_states (
      run_id     text NOT NULL REFERENCES runs ON DELETE CASCADE,
      change     bigint GENERATED ALWAYS AS IDENTITY,
      state      text NOT NULL,
      reason     text,
      changed_at timestamptz NOT NULL,
      PRIMARY KEY (run_id, change)
    );

    -- A trigger writes it, because several transactions change a run's state and none may be forgotten.
    CREATE FUNCTION note_run_state() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_states (run_id, state, reason, changed_at)
      VALUES (NEW.run_id, NEW.state, NEW.state_reason,
              CASE WHEN TG_OP = 'INSERT' THEN NEW.created_at
                   ELSE coalesce(NEW.finished_at, clock_timestamp()) END);
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER run_is_planned AFTER INSERT ON runs
      FOR EACH ROW
      EXECUTE FUNCTION note_run_state();
    CREATE TRIGGER run_state_changes AFTER UPDATE ON runs
      FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)
      EXECUTE FUNCTION note_run_state();

    CREATE TABLE run_windows (
      run_id   text NOT NULL REFERENCES runs ON DELETE CASCADE,
      place    smallint NOT NULL,
      zones    text[] NOT NULL,
      send_at  timestamptz,
      opens_at timestamptz,
      shuts_at timestamptz,
      PRIMARY KEY (run_id, place)
    );
    CREATE INDEX run_windows_opening ON run_windows (opens_at) WHERE opens_at IS NOT NULL;

    CREATE TABLE run_files (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      path   text NOT NULL,
      data   bytea NOT NULL,
      PRIMARY KEY (run_id, path)
    );

    CREATE TABLE run_origins (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      origin text NOT NULL REFERENCES runs ON DELETE CASCADE,
      PRIMARY KEY (run_id, origin)
    );
    CREATE INDEX run_origins_origin ON run_origins (origin);

    CREATE TABLE fingerprints (
      fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
      run_id      text NOT NULL UNIQUE REFERENCES runs ON DELETE CASCADE,
      PRIMARY KEY (fingerprint, run_id)
    );

    CREATE TABLE approvals (
      run_id          text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      reason          text NOT NULL,
      planned_by      text NOT NULL,
      planned_how     text NOT NULL CHECK (planned_how IN ('cli', 'api', 'schedule')),
      campaign_file   text,
      campaign_sha256 bytea,
      approved_by     text,
      approved_at     timestamptz,
      CHECK ((approved_by IS NULL) = (approved_at IS NULL))
    );

    CREATE TABLE untried_proofs (
      run_id text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      reason text NOT NULL
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE untried_proofs, approvals, fingerprints, run_origins, run_files, run_windows, run_states, runs;
    DROP FUNCTION note_run_state;
  `);
}
