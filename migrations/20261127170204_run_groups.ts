import type { Knex } from 'knex';

/**
 * Why requests and recipients of a run failed, and what the service answered and when, are kept like its counts: rows of
 * `run_counts` have the words that their requests or recipients share, and `run_answers` counts attempts. Triggers add
 * rows, and `ledger/counts/fold.ts` replaces many by their sums.
 *
 * The acceptance of an ordinary request adds no row of either: its answer is counted when its slice is done.
 */
export async function up(knex: Knex): Promise<void> {
  await lockTables(knex);
  await addGroups(knex);
  await countRequests(knex, byWords);
  await countOutcomes(knex, byWords);
  await countLeftOut(knex);
  await countAnswers(knex);
  await countExistingRuns(knex);
  await mendCounts(knex);
}

/** Processes lock these tables in other orders. So the migration never waits for one while it has another. */
async function lockTables(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    BEGIN
      SET LOCAL lock_timeout = '400ms';
      LOOP
        BEGIN
          LOCK TABLE runs, slices, requests, attempts, slice_outcomes, recipient_outcomes, run_counts, rejected_contacts
            IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          PERFORM pg_sleep(0.2);
        END;
      END LOOP;
      SET LOCAL lock_timeout = 0;
    END $$;
  `);
}

/** The largest groups of a run keep their words. */
const maxGroups = 100;

async function addGroups(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE run_counts ADD COLUMN group_id text NOT NULL DEFAULT '', ADD COLUMN words jsonb;
    DROP INDEX run_counts_folded;
    CREATE UNIQUE INDEX run_counts_folded ON run_counts (run_id, counted, group_id) WHERE folded;
    COMMENT ON COLUMN run_counts.group_id IS
      'Requests or recipients with the same words, by a digest of these (failure_group, result_group). Empty: their '
      'words do not matter, or are of a group that is smaller than the largest ${maxGroups}.';
    COMMENT ON COLUMN run_counts.words IS
      'rejected, divided, failed, in_doubt, abandoned: the reason, as in requests.reason. delivered, undelivered: '
      'the result, as in recipient_outcomes. Null: none, or group_id is empty.';

    CREATE FUNCTION failure_words(state text, reason jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
      WHEN state NOT IN ('rejected', 'failed', 'in_doubt', 'abandoned') THEN NULL
      -- gateway/verdict.ts adds the first words of the answer, which differ.
      WHEN state = 'in_doubt' AND jsonb_typeof(reason) = 'string'
        THEN to_jsonb(regexp_replace(reason #>> '{}', '^(HTTP [0-9]{3}, ([^ :]+/[^ :]+|no media type)): .*$', '\\1'))
      ELSE reason
    END;
    COMMENT ON FUNCTION failure_words IS
      'Why a request was not accepted, without what differs between requests; null in other states.';

    CREATE FUNCTION failure_group(state text, words jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN state IN ('rejected', 'failed', 'in_doubt', 'abandoned')
                THEN md5(state || coalesce(CAST(words AS text), '')) ELSE '' END;
    COMMENT ON FUNCTION failure_group IS 'The group_id of requests in this state with these words.';

    CREATE FUNCTION result_group(result text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN md5(coalesce(result, ''));
    COMMENT ON FUNCTION result_group IS 'The group_id of recipients with this result of a delivery report.';
  `);
}

/** What the functions of the triggers add to rows of `run_counts`. */
type Grouping = {
  readonly columns: string;
  /** SQL: their values, of state or outcome and its words. */
  readonly ofRequests: string;
  readonly ofOutcomes: string;
  /** SQL: the words of a request, or of an outcome. */
  readonly failureWords: string;
  readonly result: string;
};

const byWords: Grouping = {
  columns: ', group_id, words',
  ofRequests: ', failure_group(state, words), words',
  ofOutcomes: ', result_group(result), to_jsonb(result)',
  failureWords: 'failure_words(state, reason)',
  result: 'result',
};

/** As in the migrations before. */
const byStateOnly: Grouping = {
  columns: '',
  ofRequests: '',
  ofOutcomes: '',
  failureWords: 'CAST(NULL AS jsonb)',
  result: 'CAST(NULL AS text)',
};

async function countRequests(knex: Knex, { columns, ofRequests, failureWords }: Grouping): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION count_added_requests() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients${columns})
      SELECT run_id, state, count(*), sum(recipients)${ofRequests}
      FROM (SELECT run_id, state, recipients, ${failureWords} AS words FROM added) a
      GROUP BY run_id, state, words;
      INSERT INTO run_counts (run_id, counted, requests, recipients)
      SELECT run_id, 'all', count(*), 0 FROM added WHERE divided_from IS NOT NULL GROUP BY run_id;
      -- An accepted request had no row, and its slice counted it.
      UPDATE slices s
      SET accepted = s.accepted - n.requests, accepted_recipients = s.accepted_recipients - n.recipients
      FROM (
        -- Lock in key order to avoid deadlocks.
        SELECT l.run_id, l.slice, was.requests, was.recipients
        FROM (
          SELECT a.run_id, c.slice, count(*) AS requests, sum(a.recipients) AS recipients
          FROM added a
          CROSS JOIN LATERAL (
            SELECT slice
            FROM slices
            WHERE run_id = a.run_id AND first_request <= a.request
            ORDER BY first_request DESC
            LIMIT 1
          ) c
          WHERE a.state = 'accepted'
          GROUP BY a.run_id, c.slice
        ) was
        JOIN slices l USING (run_id, slice)
        ORDER BY l.run_id, l.slice
        FOR NO KEY UPDATE OF l
      ) n
      WHERE s.run_id = n.run_id AND s.slice = n.slice;
      RETURN NULL;
    END $$;

    CREATE OR REPLACE FUNCTION count_changed_requests() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients${columns})
      SELECT run_id, counted, sum(requests), sum(recipients)${ofRequests}
      FROM (
        SELECT run_id, CASE WHEN state = 'rejected' AND recipients = suppressed THEN 'divided' ELSE state END AS counted,
               1 AS requests, recipients - suppressed AS recipients, state, ${failureWords} AS words
        FROM after
        UNION ALL
        SELECT run_id, CASE WHEN state = 'rejected' AND recipients = suppressed THEN 'divided' ELSE state END, -1,
               suppressed - recipients, state, ${failureWords}
        FROM before
        UNION ALL
        SELECT run_id, 'suppressed', 0, suppressed, NULL, NULL FROM after WHERE suppressed <> 0
        UNION ALL
        SELECT run_id, 'suppressed', 0, -suppressed, NULL, NULL FROM before WHERE suppressed <> 0
      ) AS change
      GROUP BY run_id, counted, state, words
      HAVING sum(requests) <> 0 OR sum(recipients) <> 0;

      -- A follower of the run reads slices that are held or that have changed.
      UPDATE slices s
      SET version = s.version
      FROM (
        -- Lock in key order to avoid deadlocks.
        SELECT l.run_id, l.slice
        FROM (
          SELECT DISTINCT a.run_id, c.slice
          FROM (
            -- No join: it would be planned for the few rows of the session's first statement.
            SELECT run_id, request
            FROM (SELECT run_id, request, state FROM after UNION ALL SELECT run_id, request, state FROM before) AS both_sides
            GROUP BY run_id, request
            HAVING min(state) <> max(state)
          ) a
          CROSS JOIN LATERAL (
            SELECT slice, state
            FROM slices
            WHERE run_id = a.run_id AND first_request <= a.request
            ORDER BY first_request DESC
            LIMIT 1
          ) c
          WHERE c.state <> 'held'
        ) changed
        JOIN slices l USING (run_id, slice)
        ORDER BY l.run_id, l.slice
        FOR NO KEY UPDATE OF l
      ) touched
      WHERE s.run_id = touched.run_id AND s.slice = touched.slice;
      RETURN NULL;
    END $$;
  `);
}

async function countOutcomes(knex: Knex, { columns, ofOutcomes, result }: Grouping): Promise<void> {
  await knex.raw(`
    CREATE OR REPLACE FUNCTION count_added_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients${columns})
      SELECT run_id, outcome, 0, count(*)${ofOutcomes}
      FROM (SELECT run_id, outcome, ${result} AS result FROM added WHERE outcome <> 'cancelled') a
      GROUP BY run_id, outcome, result;
      UPDATE requests q
      SET suppressed = q.suppressed + s.recipients
      FROM (
        SELECT run_id, request, count(*) AS recipients FROM added WHERE outcome = 'cancelled' GROUP BY run_id, request
      ) s
      WHERE q.run_id = s.run_id AND q.request = s.request;
      RETURN NULL;
    END $$;

    CREATE OR REPLACE FUNCTION count_changed_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients${columns})
      SELECT run_id, outcome, 0, sum(recipients)${ofOutcomes}
      FROM (
        SELECT run_id, outcome, ${result} AS result, 1 AS recipients FROM after
        UNION ALL
        SELECT run_id, outcome, ${result}, -1 FROM before
      ) AS change
      WHERE outcome <> 'cancelled'
      GROUP BY run_id, outcome, result
      HAVING sum(recipients) <> 0;
      RETURN NULL;
    END $$;

    -- The counts of a run stay when its outcomes go.
    CREATE OR REPLACE FUNCTION count_deleted_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients${columns})
      SELECT run_id, outcome, 0, -count(*)${ofOutcomes}
      FROM (
        SELECT b.run_id, b.outcome, ${result} AS result
        FROM before b
        LEFT JOIN runs r USING (run_id)
        WHERE b.outcome <> 'cancelled' AND r.records_deleted_at IS NULL
      ) b
      GROUP BY run_id, outcome, result;
      RETURN NULL;
    END $$;
  `);
}

/** A trigger of its own, when the transaction that plans the run commits: Volley 0.3.0 plans runs too. */
async function countLeftOut(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE left_out_counts (
      run_id      text NOT NULL REFERENCES runs,
      reason      text NOT NULL,
      column_name text NOT NULL,
      contacts    integer NOT NULL,
      PRIMARY KEY (run_id, reason, column_name)
    );
    COMMENT ON TABLE left_out_counts IS
      'Contacts that were left out of the run, as counted when it was planned. A trigger on runs writes it.';
    COMMENT ON COLUMN left_out_counts.reason IS 'It and the next column are as in rejected_contacts.';

    CREATE FUNCTION count_left_out() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO left_out_counts (run_id, reason, column_name, contacts)
      SELECT run_id, reason, column_name, count(*)
      FROM rejected_contacts
      WHERE run_id = NEW.run_id
      GROUP BY run_id, reason, column_name;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER left_out_counted AFTER INSERT ON runs
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_left_out();
  `);
}

async function countAnswers(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_answers (
      run_id      text NOT NULL,
      ended_at    timestamptz,
      verdict     text,
      http_status integer,
      took        integer,
      attempts    integer NOT NULL,
      folded      boolean NOT NULL DEFAULT false,
      CHECK ((ended_at IS NULL) = (verdict IS NULL) AND (took IS NULL OR ended_at IS NULL))
    );
    CREATE INDEX run_answers_of_run ON run_answers (run_id);
    CREATE UNIQUE INDEX run_answers_folded ON run_answers (run_id, ended_at, verdict, http_status, took)
      NULLS NOT DISTINCT WHERE folded;
    COMMENT ON TABLE run_answers IS
      'Attempts that have ended: the sum of its rows. Each attempt is counted once by its end, and once by its '
      'duration if it was answered. Triggers on attempts and slice_outcomes add the rows. Those of ordinary requests in a '
      'slice that is not done are in outcomes only. It has no foreign key, which would lock the run for each row.';
    COMMENT ON COLUMN run_answers.ended_at IS
      'Start of the second. In a folded row, of the minute or the quarter of an hour if the run took longer. Null: the '
      'row counts durations.';
    COMMENT ON COLUMN run_answers.verdict IS 'It and the next column are as in attempts.';
    COMMENT ON COLUMN run_answers.took IS 'Milliseconds, cut to two digits.';
    COMMENT ON COLUMN run_answers.folded IS 'The row has the sum of former rows.';

    CREATE FUNCTION two_digits(took integer) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN took < 100 THEN took
                WHEN took < 1000 THEN took - took % 10
                ELSE took - mod(took, CAST(power(10, length(CAST(took AS text)) - 2) AS integer)) END;
    COMMENT ON FUNCTION two_digits IS '1,234 milliseconds are counted as 1,200.';

    CREATE FUNCTION milliseconds_between(started_at timestamptz, finished_at timestamptz) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    -- The clock may have been set: a trigger must not fail.
    RETURN CAST(least(greatest(round(extract(epoch FROM finished_at - started_at) * 1000), 0), 2147483647) AS integer);
    COMMENT ON FUNCTION milliseconds_between IS 'Whole milliseconds, from 0 up to the largest integer.';

    CREATE FUNCTION answer_interval(lasted interval) RETURNS interval
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN lasted < interval '2 minutes' THEN interval '1 second'
                WHEN lasted < interval '75 minutes' THEN interval '1 minute'
                ELSE interval '15 minutes' END;
    COMMENT ON FUNCTION answer_interval IS
      'How long the intervals are in which answers of a run are folded, by the time from its first to its last one. A '
      'run of a month has about 3,000.';

    CREATE FUNCTION count_added_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_answers (run_id, ended_at, verdict, http_status, took, attempts)
      SELECT run_id, ended_at, verdict, http_status, took, count(*)
      FROM (
        SELECT run_id, date_trunc('second', coalesce(finished_at, started_at)) AS ended_at, verdict, http_status,
               CASE WHEN http_status IS NOT NULL
                    THEN two_digits(milliseconds_between(started_at, finished_at)) END AS took
        FROM added
        WHERE verdict IS NOT NULL
      ) a
      GROUP BY GROUPING SETS ((run_id, ended_at, verdict, http_status), (run_id, took))
      HAVING grouping(ended_at) = 0 OR took IS NOT NULL;
      RETURN NULL;
    END $$;
    CREATE TRIGGER attempts_added AFTER INSERT ON attempts
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_attempts();

    CREATE FUNCTION count_changed_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_answers (run_id, ended_at, verdict, http_status, took, attempts)
      SELECT run_id, ended_at, verdict, http_status, took, sum(attempts)
      FROM (
        SELECT run_id, date_trunc('second', coalesce(finished_at, started_at)) AS ended_at, verdict, http_status,
               CASE WHEN http_status IS NOT NULL
                    THEN two_digits(milliseconds_between(started_at, finished_at)) END AS took,
               attempts
        FROM (
          SELECT run_id, started_at, finished_at, verdict, http_status, 1 AS attempts FROM after
          UNION ALL
          SELECT run_id, started_at, finished_at, verdict, http_status, -1 FROM before
        ) both_sides
        WHERE verdict IS NOT NULL
      ) a
      GROUP BY GROUPING SETS ((run_id, ended_at, verdict, http_status), (run_id, took))
      HAVING sum(attempts) <> 0 AND (grouping(ended_at) = 0 OR took IS NOT NULL);
      RETURN NULL;
    END $$;
    CREATE TRIGGER attempts_changed AFTER UPDATE ON attempts
      REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_changed_attempts();

    CREATE FUNCTION count_slice_answers() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_answers (run_id, ended_at, verdict, http_status, took, attempts)
      SELECT NEW.run_id, ended_at, verdict, http_status, took, sum(attempts)
      FROM (
        SELECT date_trunc('second', NEW.base_at + finished_ms * interval '1 millisecond') AS ended_at,
               'accepted' AS verdict, coalesce(CAST(status AS integer), 200) AS http_status, two_digits(took_ms) AS took,
               1 AS attempts
        FROM unnest(NEW.finished_ms, NEW.took_ms, NEW.statuses) AS n (finished_ms, took_ms, status)
        WHERE took_ms IS NOT NULL
        UNION ALL
        SELECT date_trunc('second', OLD.base_at + finished_ms * interval '1 millisecond'), 'accepted',
               coalesce(CAST(status AS integer), 200), two_digits(took_ms), -1
        FROM unnest(OLD.finished_ms, OLD.took_ms, OLD.statuses) AS n (finished_ms, took_ms, status)
        WHERE took_ms IS NOT NULL
      ) a
      GROUP BY GROUPING SETS ((ended_at, verdict, http_status), (took))
      HAVING sum(attempts) <> 0;
      RETURN NULL;
    END $$;
    CREATE TRIGGER slice_outcomes_added AFTER INSERT ON slice_outcomes
      FOR EACH ROW EXECUTE FUNCTION count_slice_answers();
    -- A request that gets a row has its answer in attempts.
    CREATE TRIGGER slice_outcomes_changed AFTER UPDATE ON slice_outcomes
      FOR EACH ROW WHEN (OLD.took_ms IS DISTINCT FROM NEW.took_ms) EXECUTE FUNCTION count_slice_answers();
  `);
}

/** From the rows themselves: for runs of Volley 0.3.0, and to check what is kept. */
async function countExistingRuns(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION recount_groups(run text)
    RETURNS TABLE (counted text, group_id text, words jsonb, requests bigint, recipients bigint)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT counted, failure_group(state, words), words, count(*), sum(recipients)
      FROM (
        SELECT CASE WHEN q.state = 'rejected' AND q.recipients = q.suppressed THEN 'divided' ELSE q.state END AS counted,
               q.state, failure_words(q.state, q.reason) AS words, q.recipients - q.suppressed AS recipients
        FROM requests q
        WHERE q.run_id = run AND q.state IN ('rejected', 'failed', 'in_doubt', 'abandoned')
      ) failed
      GROUP BY counted, state, words
      UNION ALL
      SELECT o.outcome, result_group(o.result), to_jsonb(o.result), 0, count(*)
      FROM recipient_outcomes o
      WHERE o.run_id = run AND o.outcome <> 'cancelled'
      GROUP BY o.outcome, o.result;
    END;
    COMMENT ON FUNCTION recount_groups IS
      'What run_counts has of a run by words, counted from its requests and outcomes; all groups, however many.';

    CREATE FUNCTION recount_answers(run text)
    RETURNS TABLE (ended_at timestamptz, verdict text, http_status integer, took integer, attempts bigint)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT ended_at, verdict, http_status, took, count(*)
      FROM (
        SELECT date_trunc('second', coalesce(a.finished_at, a.started_at)) AS ended_at, a.verdict, a.http_status,
               CASE WHEN a.http_status IS NOT NULL
                    THEN two_digits(milliseconds_between(a.started_at, a.finished_at)) END AS took
        FROM attempts a
        WHERE a.run_id = run AND a.verdict IS NOT NULL
        UNION ALL
        SELECT date_trunc('second', k.base_at + n.finished_ms * interval '1 millisecond'), 'accepted', coalesce(n.status, 200),
               two_digits(n.took_ms)
        FROM slice_outcomes k
        CROSS JOIN LATERAL unnest(k.finished_ms, k.took_ms, k.statuses) AS n (finished_ms, took_ms, status)
        WHERE k.run_id = run AND n.took_ms IS NOT NULL
      ) each
      GROUP BY GROUPING SETS ((ended_at, verdict, http_status), (took))
      HAVING grouping(ended_at) = 0 OR took IS NOT NULL;
    END;
    COMMENT ON FUNCTION recount_answers IS 'What run_answers has of a run, by the second, counted from its attempts.';

    DELETE FROM run_counts
    WHERE counted IN ('rejected', 'divided', 'failed', 'in_doubt', 'abandoned', 'delivered', 'undelivered');
    INSERT INTO run_counts (run_id, counted, group_id, words, requests, recipients, folded)
    SELECT run_id, counted, CASE WHEN place <= ${maxGroups} THEN group_id ELSE '' END,
           CASE WHEN place <= ${maxGroups} THEN words END, sum(requests), sum(recipients), true
    FROM (
      SELECT r.run_id, g.*,
             row_number() OVER (PARTITION BY r.run_id, g.counted ORDER BY g.requests DESC, g.recipients DESC) AS place
      FROM runs r
      CROSS JOIN LATERAL recount_groups(r.run_id) g
    ) ranked
    GROUP BY 1, 2, 3, 4;

    INSERT INTO run_answers (run_id, ended_at, verdict, http_status, took, attempts, folded)
    SELECT run_id, date_bin(step, ended_at, 'epoch'), verdict, http_status, took, sum(attempts), true
    FROM (
      SELECT r.run_id, a.*, answer_interval(max(a.ended_at) OVER own_run - min(a.ended_at) OVER own_run) AS step
      FROM runs r
      CROSS JOIN LATERAL recount_answers(r.run_id) a
      WINDOW own_run AS (PARTITION BY r.run_id)
    ) each
    GROUP BY 1, 2, 3, 4, 5;

    INSERT INTO left_out_counts (run_id, reason, column_name, contacts)
    SELECT run_id, reason, column_name, count(*) FROM rejected_contacts GROUP BY run_id, reason, column_name;
  `);
}

/** What the migration of the counts left wrong or unsaid. */
async function mendCounts(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Its slice is not done, and its outcomes are recorded all the same: that it was accepted is known.
    DELETE FROM early_proofs p
    USING slices s
    WHERE s.run_id = p.run_id AND p.request BETWEEN s.first_request AND s.claimed_to
      AND EXISTS (SELECT FROM slice_outcomes k WHERE k.run_id = s.run_id AND k.slice = s.slice)
      AND NOT EXISTS (
        SELECT FROM requests q WHERE q.run_id = p.run_id AND q.request = p.request AND q.state <> 'accepted'
      );

    COMMENT ON TABLE run_counts IS
      'Requests and recipients of a run by state: the sum of its rows. Triggers add a row for each statement that '
      'changes some. It has no foreign key, which would lock the run for each row.';
    COMMENT ON COLUMN run_counts.counted IS
      'all: every request and recipient of the plan; a divided request adds its halves. planned, sending, accepted, '
      'rejected, failed, in_doubt, cancelled, abandoned: requests with a row that are in this state, and their '
      'recipients without the suppressed ones. divided: rejected requests whose recipients have moved to their halves. '
      'suppressed: recipients that were suppressed after planning. delivered, undelivered: recipients by delivery '
      'report. Accepted requests without a row are in slices.accepted; the others without one are the rest of all.';
    COMMENT ON COLUMN runs.settled_before IS
      'Requests settled when the run was last resumed, by its counts. failFast counts from there.';
    COMMENT ON COLUMN runs.rejected_before IS
      'Requests rejected when the run was last resumed, by its counts. failFast counts from there.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP FUNCTION recount_answers, recount_groups;
    DROP TRIGGER slice_outcomes_changed ON slice_outcomes;
    DROP TRIGGER slice_outcomes_added ON slice_outcomes;
    DROP TRIGGER attempts_changed ON attempts;
    DROP TRIGGER attempts_added ON attempts;
    DROP FUNCTION count_slice_answers, count_changed_attempts, count_added_attempts, answer_interval,
      milliseconds_between, two_digits;
    DROP TABLE run_answers;
    DROP TRIGGER left_out_counted ON runs;
    DROP FUNCTION count_left_out;
    DROP TABLE left_out_counts;
  `);
  await countRequests(knex, byStateOnly);
  await countOutcomes(knex, byStateOnly);
  await knex.raw(`
    DROP FUNCTION result_group, failure_group, failure_words;
    CREATE TABLE folded_counts AS
      SELECT run_id, counted, sum(requests) AS requests, sum(recipients) AS recipients FROM run_counts GROUP BY run_id, counted;
    TRUNCATE run_counts;
    DROP INDEX run_counts_folded;
    ALTER TABLE run_counts DROP COLUMN group_id, DROP COLUMN words;
    CREATE UNIQUE INDEX run_counts_folded ON run_counts (run_id, counted) WHERE folded;
    INSERT INTO run_counts (run_id, counted, requests, recipients, folded)
    SELECT run_id, counted, requests, recipients, true FROM folded_counts;
    DROP TABLE folded_counts;
  `);
}
