import type { Knex } from 'knex';

/**
 * The ranges of requests that workers hold, and what they noted of ordinary requests: a claim of any number of requests is one
 * change of one row, and one of many accepted requests is one more row.
 */
export async function up(knex: Knex): Promise<void> {
  await makeSlices(knex);
  await makeOutcomes(knex);
}

async function makeSlices(knex: Knex): Promise<void> {
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
    COMMENT ON TABLE slices IS
      'A range of a run''s requests, which one worker holds at a time.';
    COMMENT ON COLUMN slices.phase IS
      'sending: it is a range of requests. settling doubts: the one slice of a run that has no requests; it stands for '
      'what can be done about the doubts of the run when all else is done.';
    COMMENT ON COLUMN slices.state IS
      'waiting: it has no job in the queue. queued: its job waits for a worker. held: a worker has it, and sends its '
      'requests. done: nothing of it is left to send, until a person or the campaign has a request sent again.';
    COMMENT ON COLUMN slices.job IS 'Its job in the queue (pg-boss).';
    COMMENT ON COLUMN slices.worker IS
      'The process that holds it. The session of that process keeps an advisory lock, so that its death shows at once.';
    COMMENT ON COLUMN slices.owner IS 'New each time a worker takes the slice: fences what a former owner sends late.';
    COMMENT ON COLUMN slices.version IS
      'How often it was taken, or its owners have changed what is claimed or accepted of it. Each change is made on top '
      'of the one before, so one that is made again, because its answer was lost, is made once.';
    COMMENT ON COLUMN slices.claimed_to IS
      'Requests up to this one, as far as they have no rows of their own, may be in flight; first_request - 1 before '
      'the first claim.';
    COMMENT ON COLUMN slices.claimed_at IS 'When the last claim was made.';
    COMMENT ON COLUMN slices.settled IS
      'Requests that are neither planned nor being sent, nor cancelled with their run. It and the next two are counted '
      'as requests change, for progress and failFast; the truth is in requests and outcomes.';
    COMMENT ON COLUMN slices.rejected IS 'Those of them that the service rejected.';
    COMMENT ON COLUMN slices.not_accepted IS 'Those of them that are rejected, failed, in doubt or abandoned, and not divided.';
    COMMENT ON COLUMN slices.window_index IS 'Its window, as in run_windows; null: the run has no window.';

    CREATE TABLE slice_owners (
      run_id  text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice   integer NOT NULL,
      version integer NOT NULL,
      owner   uuid NOT NULL,
      PRIMARY KEY (run_id, slice, version)
    );
    COMMENT ON TABLE slice_owners IS
      'Whose the changes of a slice are, from a version on. A machine knows its last claim by its owner and version: in '
      'a ledger that was restored, the version may be another owner''s.';
  `);
}

async function makeOutcomes(knex: Knex): Promise<void> {
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
      'What the owner of a slice noted in one change of it: ordinary requests that were accepted, by their first '
      'attempts.';
    COMMENT ON COLUMN outcomes.version IS 'The number of the change, as in slices.version.';
    COMMENT ON COLUMN outcomes.requests IS 'The requests; the next four columns have an element for each.';
    COMMENT ON COLUMN outcomes.ages_ms IS 'How long before recorded_at the answer came.';
    COMMENT ON COLUMN outcomes.took_ms IS 'How long the attempt took.';
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
      'The outcomes of a slice that is done, in one row: an element for each of its requests, null where it was not '
      'noted.';
    COMMENT ON COLUMN slice_outcomes.base_at IS 'When the first answer came.';
    COMMENT ON COLUMN slice_outcomes.finished_ms IS 'How long after base_at the answer came.';
    COMMENT ON COLUMN slice_outcomes.took_ms IS 'It and the next two: as in outcomes.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE slice_outcomes, outcomes, slice_owners, slices');
}
