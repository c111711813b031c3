import type { Knex } from 'knex';

/**
 * Slices and the outcomes of their ordinary requests. A claim of many requests changes one row; many acceptances add
 * one.
 */
export async function up(knex: Knex): Promise<void> {
  await createSlices(knex);
  await createOutcomes(knex);
}

async function createSlices(knex: Knex): Promise<void> {
  await knex.raw(`
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
      version       integer NOT NULL DEFAULT 0,
      claimed_to    integer,
      claimed_at    timestamptz,
      settled       integer NOT NULL DEFAULT 0,
      rejected      integer NOT NULL DEFAULT 0,
      not_accepted  integer NOT NULL DEFAULT 0,
      window_index  smallint,
      PRIMARY KEY (run_id, slice),
      CHECK (last_request >= first_request),
      CHECK ((phase = 'sending') = (first_request IS NOT NULL) AND (phase = 'sending') = (last_request IS NOT NULL)),
      CHECK ((phase = 'sending') = (claimed_to IS NOT NULL)),
      CHECK ((state IN ('queued', 'held')) = (job IS NOT NULL)),
      CHECK ((state = 'held') = (worker IS NOT NULL)),
      CHECK ((state = 'held') = (owner IS NOT NULL))
    );
    CREATE INDEX slices_held ON slices (worker) WHERE state = 'held';
    CREATE UNIQUE INDEX slices_by_request ON slices (run_id, first_request);
    COMMENT ON TABLE slices IS 'A range of a run''s requests, which one worker holds at a time.';
    COMMENT ON COLUMN slices.phase IS
      'sending: a range of requests. settling doubts: the one slice without requests; it stands for work on the '
      'run''s doubts after everything else is done.';
    COMMENT ON COLUMN slices.state IS
      'waiting: it has no job in the queue. queued: its job waits for a worker. held: a worker has it and sends its '
      'requests. done: nothing is left to send, until an operator or the campaign resends a request.';
    COMMENT ON COLUMN slices.job IS 'Its job in the queue (pg-boss).';
    COMMENT ON COLUMN slices.worker IS
      'The process that holds it. That process''s session holds an advisory lock, so that its end is noticed at '
      'once.';
    COMMENT ON COLUMN slices.owner IS 'New with each acquisition. Fences late changes of an earlier owner.';
    COMMENT ON COLUMN slices.version IS
      'Counts acquisitions and changes by owners of what is claimed or accepted. Each change builds on the one '
      'before, so a repeated change, after a lost answer, is made once.';
    COMMENT ON COLUMN slices.claimed_to IS
      'Requests up to this one that have no row may be in flight; first_request - 1: none was claimed.';
    COMMENT ON COLUMN slices.claimed_at IS 'When the last claim was made.';
    COMMENT ON COLUMN slices.settled IS
      'Requests that are neither planned, nor sending, nor cancelled with their run. It and the next two columns '
      'are counters for progress and failFast; requests and outcomes are authoritative.';
    COMMENT ON COLUMN slices.rejected IS 'Settled requests that the service rejected.';
    COMMENT ON COLUMN slices.not_accepted IS
      'Settled requests that are rejected (and not divided), failed, in doubt or abandoned.';
    COMMENT ON COLUMN slices.window_index IS 'Its window, as in run_windows; null: the run has no windows.';

    CREATE TABLE slice_owners (
      run_id  text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice   integer NOT NULL,
      version integer NOT NULL,
      owner   uuid NOT NULL,
      PRIMARY KEY (run_id, slice, version)
    );
    COMMENT ON TABLE slice_owners IS
      'Owners of a slice''s changes, each from a version on. A machine identifies its last claim by owner and '
      'version. In a restored ledger, that version may have another owner.';
  `);
}

async function createOutcomes(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE outcomes (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice       integer NOT NULL,
      version     integer NOT NULL,
      recorded_at timestamptz NOT NULL,
      requests    integer[] NOT NULL,
      ages_ms     integer[] NOT NULL,
      took_ms     integer[] NOT NULL,
      statuses    smallint[],
      job_numbers text[],
      PRIMARY KEY (run_id, slice, version)
    );
    COMMENT ON TABLE outcomes IS
      'Requests that a slice''s owner recorded as accepted in one change: ordinary ones, by their first attempts.';
    COMMENT ON COLUMN outcomes.version IS 'The number of the change, as in slices.version.';
    COMMENT ON COLUMN outcomes.requests IS 'The requests. The next four columns have an element for each.';
    COMMENT ON COLUMN outcomes.ages_ms IS 'Time from the answer to recorded_at.';
    COMMENT ON COLUMN outcomes.took_ms IS 'Duration of the attempt.';
    COMMENT ON COLUMN outcomes.statuses IS 'HTTP status of the answer; null: all 200.';
    COMMENT ON COLUMN outcomes.job_numbers IS 'The number that the service gave the request; null: none has one.';

    CREATE TABLE slice_outcomes (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice       integer NOT NULL,
      base_at     timestamptz,
      finished_ms bigint[] NOT NULL,
      took_ms     integer[] NOT NULL,
      statuses    smallint[],
      job_numbers text[],
      PRIMARY KEY (run_id, slice)
    );
    COMMENT ON TABLE slice_outcomes IS
      'All outcomes of a done slice in one row: an element for each request, null where none was recorded.';
    COMMENT ON COLUMN slice_outcomes.base_at IS 'When the first answer arrived.';
    COMMENT ON COLUMN slice_outcomes.finished_ms IS 'Time from base_at to the answer.';
    COMMENT ON COLUMN slice_outcomes.took_ms IS 'It and the next two columns are as in outcomes.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE slice_outcomes, outcomes, slice_owners, slices');
}
