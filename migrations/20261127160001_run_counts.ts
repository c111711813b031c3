import type { Knex } from 'knex';

/**
 * How many requests and recipients of a run are in each state. Triggers on the tables that say so keep the counts: no
 * statement can forget them, and processes of Volley 0.3.0 that go on sending after the migration need not know them.
 * A change only adds a row, so transactions that change requests of one run do not wait for each other.
 * `ledger/counts/` adds the rows up and folds them.
 *
 * An ordinary request that was accepted is counted in the row of its slice, which that commit changes anyway. Other
 * requests without a row are the rest of `all`, so a claim counts nothing.
 */
export async function up(knex: Knex): Promise<void> {
  await createTable(knex);
  await countPlannedRuns(knex);
  await countAcceptedRequests(knex);
  await countChangedRequests(knex);
  await countOutcomes(knex);
  await sumBookedCosts(knex);
  await countExistingRuns(knex);
}

async function createTable(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE requests ADD COLUMN suppressed integer NOT NULL DEFAULT 0;
    ALTER TABLE outcomes ADD COLUMN recipients integer;
    ALTER TABLE slices ADD COLUMN accepted integer NOT NULL DEFAULT 0,
                       ADD COLUMN accepted_recipients integer NOT NULL DEFAULT 0;

    CREATE TABLE run_counts (
      run_id     text NOT NULL,
      counted    text NOT NULL CHECK (counted IN
                   ('all', 'planned', 'sending', 'accepted', 'rejected', 'divided', 'failed', 'in_doubt', 'cancelled',
                    'abandoned', 'suppressed', 'delivered', 'undelivered')),
      requests   integer NOT NULL,
      recipients integer NOT NULL,
      folded     boolean NOT NULL DEFAULT false
    );
    CREATE INDEX run_counts_of_run ON run_counts (run_id);
    CREATE UNIQUE INDEX run_counts_folded ON run_counts (run_id, counted) WHERE folded;
    CREATE INDEX run_counts_unfolded ON run_counts (run_id) WHERE NOT folded;
    DROP INDEX billing_entries_unknown;
    CREATE INDEX run_counts_unknown ON run_counts (counted, run_id) WHERE counted IN ('in_doubt', 'abandoned');

    COMMENT ON COLUMN requests.suppressed IS
      'Recipients that were suppressed after planning. A trigger counts them.';
    COMMENT ON COLUMN outcomes.recipients IS 'Of all its requests; null: of Volley 0.3.0, which did not record it.';
    COMMENT ON COLUMN slices.accepted IS 'Accepted requests without a row.';
    COMMENT ON COLUMN slices.accepted_recipients IS 'Their recipients.';
    COMMENT ON TABLE run_counts IS
      'Requests and recipients of a run by state: the sum of its rows. Triggers add a row for each statement that '
      'changes some.';
    COMMENT ON COLUMN run_counts.counted IS
      'all: as planned; a divided request adds its halves. A state of requests (planned, sending, accepted, rejected, failed, in_doubt, cancelled, abandoned): those with a '
      'row, without suppressed '
      'recipients; slices.accepted has the others that are accepted, and the rest of all is planned or sending. divided: '
      'rejected requests whose recipients have moved to their halves. suppressed: recipients that were suppressed '
      'after planning. delivered, undelivered: recipients by delivery report.';
    COMMENT ON COLUMN run_counts.folded IS 'The row has the sum of former rows.';
    COMMENT ON TABLE early_proofs IS
      'Requests that were not accepted when a delivery report or a reply came. If one gets a row later, its reported '
      'is set. When a slice is done, those that are accepted are deleted.';
    COMMENT ON COLUMN slices.settled IS 'Only Volley 0.3.0 writes it. run_counts has what it counted.';
    COMMENT ON COLUMN slices.rejected IS 'Only Volley 0.3.0 writes it. run_counts has what it counted.';
    COMMENT ON COLUMN slices.not_accepted IS 'Only Volley 0.3.0 writes it. run_counts has what it counted.';
  `);
}

/** When the transaction that plans the run commits: its slices and recipients are there by then. */
async function countPlannedRuns(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION count_planned_run() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients, folded)
      SELECT NEW.run_id, 'all',
             (SELECT coalesce(sum(last_request - first_request + 1), 0) FROM slices WHERE run_id = NEW.run_id),
             (SELECT coalesce(sum(cardinality(positions)), 0) FROM contents WHERE run_id = NEW.run_id), true;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER runs_counted AFTER INSERT ON runs
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_planned_run();
  `);
}

/** Volley 0.3.0 records acceptances without counting them. */
async function countAcceptedRequests(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION count_accepted_requests() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE slices s
      SET accepted = s.accepted + n.requests, accepted_recipients = s.accepted_recipients + n.recipients
      FROM (
        SELECT count(*) AS requests, coalesce(sum(c.sizes[n.request - c.first_request + 1]), 0) AS recipients
        FROM unnest(NEW.requests) AS n (request)
        CROSS JOIN LATERAL contents_between(NEW.run_id, n.request, n.request) c
      ) n
      WHERE s.run_id = NEW.run_id AND s.slice = NEW.slice;
      RETURN NULL;
    END $$;
    CREATE TRIGGER outcomes_counted AFTER INSERT ON outcomes
      FOR EACH ROW WHEN (NEW.recipients IS NULL) EXECUTE FUNCTION count_accepted_requests();
  `);
}

async function countChangedRequests(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION count_added_requests() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients)
      SELECT run_id, state, count(*), sum(recipients) FROM added GROUP BY run_id, state
      UNION ALL
      SELECT run_id, 'all', count(*), 0 FROM added WHERE divided_from IS NOT NULL GROUP BY run_id;
      -- An accepted request had no row, and its slice counted it.
      UPDATE slices s
      SET accepted = s.accepted - n.requests, accepted_recipients = s.accepted_recipients - n.recipients
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
      ) n
      WHERE s.run_id = n.run_id AND s.slice = n.slice;
      RETURN NULL;
    END $$;
    CREATE TRIGGER requests_added AFTER INSERT ON requests
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_requests();

    CREATE FUNCTION count_changed_requests() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients)
      SELECT run_id, counted, sum(requests), sum(recipients)
      FROM (
        SELECT run_id, CASE WHEN state = 'rejected' AND recipients = suppressed THEN 'divided' ELSE state END AS counted,
               1 AS requests, recipients - suppressed AS recipients
        FROM after
        UNION ALL
        SELECT run_id, CASE WHEN state = 'rejected' AND recipients = suppressed THEN 'divided' ELSE state END, -1,
               suppressed - recipients
        FROM before
        UNION ALL
        SELECT run_id, 'suppressed', 0, suppressed FROM after WHERE suppressed <> 0
        UNION ALL
        SELECT run_id, 'suppressed', 0, -suppressed FROM before WHERE suppressed <> 0
      ) AS change
      GROUP BY run_id, counted
      HAVING sum(requests) <> 0 OR sum(recipients) <> 0;

      -- A follower of the run reads slices that are held or that have changed.
      UPDATE slices s
      SET version = s.version
      FROM (
        -- Lock in key order to avoid deadlocks.
        SELECT l.run_id, l.slice
        FROM (
          SELECT DISTINCT a.run_id, c.slice
          FROM after a
          JOIN before b USING (run_id, request)
          CROSS JOIN LATERAL (
            SELECT slice, state
            FROM slices
            WHERE run_id = a.run_id AND first_request <= a.request
            ORDER BY first_request DESC
            LIMIT 1
          ) c
          WHERE a.state <> b.state AND c.state <> 'held'
        ) changed
        JOIN slices l USING (run_id, slice)
        ORDER BY l.run_id, l.slice
        FOR NO KEY UPDATE OF l
      ) touched
      WHERE s.run_id = touched.run_id AND s.slice = touched.slice;
      RETURN NULL;
    END $$;
    CREATE TRIGGER requests_changed AFTER UPDATE ON requests
      REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_changed_requests();
  `);
}

async function countOutcomes(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION count_added_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients)
      SELECT run_id, outcome, 0, count(*) FROM added WHERE outcome <> 'cancelled' GROUP BY run_id, outcome;
      UPDATE requests q
      SET suppressed = q.suppressed + s.recipients
      FROM (
        SELECT run_id, request, count(*) AS recipients FROM added WHERE outcome = 'cancelled' GROUP BY run_id, request
      ) s
      WHERE q.run_id = s.run_id AND q.request = s.request;
      RETURN NULL;
    END $$;
    CREATE TRIGGER recipient_outcomes_added AFTER INSERT ON recipient_outcomes
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_outcomes();

    CREATE FUNCTION count_changed_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients)
      SELECT run_id, outcome, 0, sum(recipients)
      FROM (
        SELECT run_id, outcome, 1 AS recipients FROM after UNION ALL SELECT run_id, outcome, -1 FROM before
      ) AS change
      WHERE outcome <> 'cancelled'
      GROUP BY run_id, outcome
      HAVING sum(recipients) <> 0;
      RETURN NULL;
    END $$;
    CREATE TRIGGER recipient_outcomes_changed AFTER UPDATE ON recipient_outcomes
      REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_changed_outcomes();

    CREATE FUNCTION count_deleted_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_counts (run_id, counted, requests, recipients)
      SELECT run_id, outcome, 0, -count(*) FROM before WHERE outcome <> 'cancelled' GROUP BY run_id, outcome;
      RETURN NULL;
    END $$;
    CREATE TRIGGER recipient_outcomes_deleted AFTER DELETE ON recipient_outcomes
      REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_outcomes();
  `);
}

/** Booking adds to entries; a list of runs shows a sum of each. */
async function sumBookedCosts(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_costs (
      run_id    text PRIMARY KEY,
      price     numeric NOT NULL,
      estimated numeric NOT NULL
    );
    COMMENT ON TABLE run_costs IS 'Sums of billing_entries by run, which triggers on them keep.';

    CREATE FUNCTION sum_added_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_costs AS c (run_id, price, estimated)
      SELECT run_id, sum(price), sum(estimated) FROM added GROUP BY run_id ORDER BY run_id
      ON CONFLICT (run_id) DO UPDATE
      SET price = c.price + excluded.price, estimated = c.estimated + excluded.estimated;
      RETURN NULL;
    END $$;
    CREATE TRIGGER billing_entries_added AFTER INSERT ON billing_entries
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_added_entries();

    CREATE FUNCTION sum_changed_entries() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE run_costs c
      SET price = c.price + d.price, estimated = c.estimated + d.estimated
      FROM (
        SELECT run_id, sum(price) AS price, sum(estimated) AS estimated
        FROM (
          SELECT run_id, price, estimated FROM after UNION ALL SELECT run_id, -price, -estimated FROM before
        ) AS change
        GROUP BY run_id
      ) d
      WHERE c.run_id = d.run_id;
      RETURN NULL;
    END $$;
    CREATE TRIGGER billing_entries_changed AFTER UPDATE ON billing_entries
      REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION sum_changed_entries();

    INSERT INTO run_costs (run_id, price, estimated)
    SELECT run_id, sum(price), sum(estimated) FROM billing_entries GROUP BY run_id;
  `);
}

/** From the rows themselves: for runs of Volley 0.3.0, and to check what is kept. */
async function countExistingRuns(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION count_recipients_in_flight(run text) RETURNS integer
    LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT CAST(coalesce(sum(o.recipients), 0) AS integer)
      FROM slices s
      CROSS JOIN LATERAL ordinary_requests_between(s.run_id, s.first_request, s.claimed_to) o
      WHERE s.run_id = run AND s.state = 'held' AND s.claimed_to >= s.first_request AND o.state = 'sending';
    END;
    COMMENT ON FUNCTION count_recipients_in_flight IS
      'Recipients of requests without a row that workers are sending: of a cancelled run, until they stop.';

    CREATE FUNCTION count_accepted_of_slices(run text)
    RETURNS TABLE (slice integer, requests bigint, recipients bigint)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
      WITH sending AS MATERIALIZED (
        SELECT s.slice, s.first_request, s.last_request,
               s.claimed_to = s.last_request AND EXISTS (
                 SELECT FROM slice_outcomes k WHERE k.run_id = s.run_id AND k.slice = s.slice
               ) AS is_settled
        FROM slices s
        WHERE s.run_id = run AND s.phase = 'sending' AND s.claimed_to >= s.first_request
      )
      -- Every ordinary request of a settled slice is accepted.
      SELECT s.slice, s.last_request - s.first_request + 1 - own.requests, planned.recipients - own.recipients
      FROM sending s
      CROSS JOIN LATERAL (
        SELECT count(*) AS requests, coalesce(sum(q.recipients), 0) AS recipients
        FROM requests q
        WHERE q.run_id = run AND q.request BETWEEN s.first_request AND s.last_request
      ) own
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(cardinality(c.positions)), 0) AS recipients
        FROM contents c
        WHERE c.run_id = run AND c.first_request BETWEEN s.first_request AND s.last_request
      ) planned
      WHERE s.is_settled
      UNION ALL
      SELECT s.slice, count(*), sum(o.recipients)
      FROM sending s
      CROSS JOIN LATERAL ordinary_requests_between(run, s.first_request, s.last_request) o
      WHERE NOT s.is_settled AND o.state = 'accepted'
      GROUP BY s.slice;
    END;
    COMMENT ON FUNCTION count_accepted_of_slices IS
      'What slices.accepted and slices.accepted_recipients have, counted from the outcomes.';

    CREATE FUNCTION recount_run(run text) RETURNS TABLE (counted text, requests bigint, recipients bigint)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
      WITH suppressed AS MATERIALIZED (
        SELECT o.request, count(*) AS recipients
        FROM recipient_outcomes o
        WHERE o.run_id = run AND o.outcome = 'cancelled'
        GROUP BY o.request
      )
      SELECT 'all', (SELECT coalesce(sum(last_request - first_request + 1), 0) FROM slices WHERE run_id = run),
             (SELECT coalesce(sum(cardinality(positions)), 0) FROM contents WHERE run_id = run)
      UNION ALL
      SELECT CASE WHEN state = 'rejected' AND left_recipients = 0 THEN 'divided' ELSE state END, sum(number),
             sum(left_recipients)
      FROM (
        SELECT q.state, 1 AS number, q.recipients - coalesce(s.recipients, 0) AS left_recipients
        FROM requests q
        LEFT JOIN suppressed s USING (request)
        WHERE q.run_id = run
        UNION ALL
        SELECT 'accepted', a.requests, a.recipients FROM count_accepted_of_slices(run) a
      ) AS each
      GROUP BY 1
      UNION ALL
      SELECT 'suppressed', 0, sum(recipients) FROM suppressed HAVING count(*) > 0
      UNION ALL
      SELECT o.outcome, 0, count(*)
      FROM recipient_outcomes o
      WHERE o.run_id = run AND o.outcome <> 'cancelled'
      GROUP BY o.outcome;
    END;
    COMMENT ON FUNCTION recount_run IS 'What run_counts and slices.accepted have of a run, counted from its requests and outcomes.';

    -- No trigger counts these.
    ALTER TABLE requests DISABLE TRIGGER requests_changed;
    UPDATE requests q
    SET suppressed = s.recipients
    FROM (
      SELECT run_id, request, count(*) AS recipients FROM recipient_outcomes WHERE outcome = 'cancelled' GROUP BY run_id, request
    ) s
    WHERE q.run_id = s.run_id AND q.request = s.request;
    ALTER TABLE requests ENABLE TRIGGER requests_changed;

    UPDATE slices s
    SET accepted = n.requests, accepted_recipients = n.recipients
    FROM runs r
    CROSS JOIN LATERAL count_accepted_of_slices(r.run_id) n
    WHERE s.run_id = r.run_id AND s.slice = n.slice AND n.requests > 0;

    INSERT INTO run_counts (run_id, counted, requests, recipients, folded)
    SELECT r.run_id, c.counted, c.requests - a.requests, c.recipients - a.recipients, true
    FROM runs r
    CROSS JOIN LATERAL recount_run(r.run_id) c
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(s.accepted), 0) AS requests, coalesce(sum(s.accepted_recipients), 0) AS recipients
      FROM slices s
      WHERE s.run_id = r.run_id AND c.counted = 'accepted'
    ) a;

    -- Requests with a delivery report or a reply that are not accepted.
    INSERT INTO early_proofs (run_id, request)
    SELECT DISTINCT q.run_id, q.request
    FROM requests q
    JOIN recipient_outcomes o ON o.run_id = q.run_id AND o.request = q.request AND o.outcome <> 'cancelled'
    WHERE q.state <> 'accepted'
    UNION
    SELECT o.run_id, o.request
    FROM slices s
    JOIN recipient_outcomes o ON o.run_id = s.run_id AND o.request > s.claimed_to AND o.request <= s.last_request
    WHERE s.claimed_to < s.last_request
    ON CONFLICT DO NOTHING;
    DELETE FROM early_proofs p
    USING slices s
    WHERE s.run_id = p.run_id AND p.request BETWEEN s.first_request AND s.claimed_to AND s.state = 'done'
      AND NOT EXISTS (
        SELECT FROM requests q WHERE q.run_id = p.run_id AND q.request = p.request AND q.state <> 'accepted'
      );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP FUNCTION recount_run, count_accepted_of_slices, count_recipients_in_flight;
    DROP TRIGGER billing_entries_changed ON billing_entries;
    DROP TRIGGER billing_entries_added ON billing_entries;
    DROP FUNCTION sum_changed_entries, sum_added_entries;
    DROP TABLE run_costs;
    DROP TRIGGER recipient_outcomes_deleted ON recipient_outcomes;
    DROP TRIGGER recipient_outcomes_changed ON recipient_outcomes;
    DROP TRIGGER recipient_outcomes_added ON recipient_outcomes;
    DROP TRIGGER requests_changed ON requests;
    DROP TRIGGER requests_added ON requests;
    DROP TRIGGER outcomes_counted ON outcomes;
    DROP TRIGGER runs_counted ON runs;
    DROP FUNCTION count_deleted_outcomes, count_changed_outcomes, count_added_outcomes, count_changed_requests,
      count_added_requests, count_accepted_requests, count_planned_run;
    DROP TABLE run_counts;
    CREATE INDEX billing_entries_unknown ON billing_entries (unknown) WHERE unknown <> 0;
    ALTER TABLE slices DROP COLUMN accepted, DROP COLUMN accepted_recipients;
    ALTER TABLE outcomes DROP COLUMN recipients;
    ALTER TABLE requests DROP COLUMN suppressed;
  `);
}
