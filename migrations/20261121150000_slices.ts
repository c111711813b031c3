import type { Knex } from 'knex';

/**
 * Dispatch in slices. A slice is a range of a run's requests that one worker holds at a time; its job in the queue
 * (pg-boss) is `job`, and `owner` fences what is sent under one holding of it. `worker` names the process, whose session
 * keeps an advisory lock, so that its death shows at once. Slice 0 is the requests in doubt of the whole run, once all
 * others are done.
 *
 * No index knows a request's state: with a free third in every page, a request is claimed and settled in place, without
 * touching an index.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE slices (
      run_id        text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice         integer NOT NULL,
      first_request integer NOT NULL,
      last_request  integer NOT NULL CHECK (last_request >= first_request),
      state         text NOT NULL CHECK (state IN ('waiting', 'queued', 'held', 'done')),
      job           uuid,
      worker        uuid,
      owner         uuid,
      -- Counted as they are recorded, for progress and failFast; the truth is in requests.
      settled       integer NOT NULL DEFAULT 0,
      rejected      integer NOT NULL DEFAULT 0,
      not_accepted  integer NOT NULL DEFAULT 0,
      PRIMARY KEY (run_id, slice),
      CHECK ((state IN ('queued', 'held')) = (job IS NOT NULL)),
      CHECK ((state = 'held') = (worker IS NOT NULL)),
      CHECK ((state = 'held') = (owner IS NOT NULL))
    );
    CREATE INDEX slices_held ON slices (worker) WHERE state = 'held';

    INSERT INTO slices (run_id, slice, first_request, last_request, state)
    SELECT run_id, slice, 1 + (slice - 1) * 500, least(slice * 500, requests),
           CASE WHEN runs.state IN ('completed', 'cancelled', 'failed') THEN 'done' ELSE 'waiting' END
    FROM (SELECT run_id, max(request) AS requests FROM requests GROUP BY run_id) counted
    JOIN runs USING (run_id),
         generate_series(1, (requests + 499) / 500) AS slice;

    -- A dispatch that was on its way has no slice in the queue; resuming puts them there.
    UPDATE runs SET state = 'paused', state_reason = 'interrupted' WHERE state = 'running';

    DROP INDEX requests_planned;
    ALTER TABLE requests SET (fillfactor = 65);
    ALTER TABLE attempts SET (fillfactor = 65);
    ALTER TABLE requests DROP CONSTRAINT requests_recipients_check;
    ALTER TABLE requests
      ADD CONSTRAINT requests_recipients_check CHECK (recipients >= 0),
      -- The rejected request whose recipients this one has a part of.
      ADD COLUMN divided_from integer,
      -- How often it was sent again though the service may have had it.
      ADD COLUMN resends integer NOT NULL DEFAULT 0;

    -- What an operator said of a request in doubt.
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

    -- How fast an account may be used, over all workers (generic cell rate). The times are those at which what was
    -- let through so far would have been let through at the steady rate.
    CREATE TABLE rate_limits (
      account               text PRIMARY KEY,
      -- Set by an operator, in place of the accounts file's; NULL: that of the file.
      requests_per_second   double precision CHECK (requests_per_second > 0),
      recipients_per_second double precision CHECK (recipients_per_second > 0),
      -- In force when the time beside it was reckoned; NULL: there was no limit.
      requests_rate         double precision CHECK (requests_rate > 0),
      requests_until        timestamptz NOT NULL DEFAULT '-infinity',
      recipients_rate       double precision CHECK (recipients_rate > 0),
      recipients_until      timestamptz NOT NULL DEFAULT '-infinity',
      status_until          timestamptz NOT NULL DEFAULT '-infinity'
    ) WITH (fillfactor = 10);
  `);
}

/** What was divided and resolved stays as it is; who did it and why is lost. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE rate_limits, resolutions, slices;
    ALTER TABLE requests DROP COLUMN divided_from, DROP COLUMN resends;
    ALTER TABLE requests DROP CONSTRAINT requests_recipients_check;
    ALTER TABLE requests ADD CONSTRAINT requests_recipients_check CHECK (recipients > 0) NOT VALID;
    ALTER TABLE requests RESET (fillfactor);
    ALTER TABLE attempts RESET (fillfactor);
    CREATE INDEX requests_planned ON requests (run_id, request) WHERE state = 'planned';
  `);
}
