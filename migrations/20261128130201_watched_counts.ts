import type { Knex } from 'knex';

/**
 * Delivered and undelivered recipients of watched runs, by destination. Triggers on the outcomes count them, as they count
 * `run_counts`: a change only adds rows, and processes of Volley 0.3.0 that apply delivery reports need not know them.
 * Outcomes of other runs cost one look-up for each statement.
 */
export async function up(knex: Knex): Promise<void> {
  await lockTables(knex);
  await createTable(knex);
  await countOutcomes(knex);
  await createRecount(knex);
  await knex.raw(`
    ALTER TABLE notifications
      DROP CONSTRAINT notifications_event_check,
      ADD CONSTRAINT notifications_event_check
        CHECK (event IN ('completed', 'failures', 'paused', 'warned', 'missed', 'refused'));
    COMMENT ON COLUMN notifications.event IS
      'completed: all requests of the run are accepted. failures: the run is over, and requests were rejected, failed, '
      'abandoned or are in doubt. paused: the run is paused. warned: its guard would have paused it, but only notifies. '
      'missed: a tick has no run. refused: Volley refused a run because of its contacts.';
  `);
}

/** Processes lock these tables in other orders. So the migration never waits for one while it has another. */
async function lockTables(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    BEGIN
      SET LOCAL lock_timeout = '400ms';
      LOOP
        BEGIN
          LOCK TABLE run_watches, recipient_outcomes, notifications IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          PERFORM pg_sleep(0.2);
        END;
      END LOOP;
      SET LOCAL lock_timeout = 0;
    END $$;
  `);
}

async function createTable(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE run_watches ADD COLUMN destinations text[] NOT NULL DEFAULT '{}';
    COMMENT ON COLUMN run_watches.destinations IS
      'Destinations that are counted by name: the largest of the run, as planned. All others are counted together.';

    CREATE TABLE watched_counts (
      run_id      text NOT NULL,
      is_canary   boolean NOT NULL,
      variant     smallint,
      destination text NOT NULL,
      outcome     text NOT NULL CHECK (outcome IN ('delivered', 'undelivered', 'other price')),
      recipients  integer NOT NULL,
      folded      boolean NOT NULL DEFAULT false
    );
    CREATE INDEX watched_counts_of_run ON watched_counts (run_id);
    CREATE UNIQUE INDEX watched_counts_folded ON watched_counts (run_id, is_canary, variant, destination, outcome)
      NULLS NOT DISTINCT WHERE folded;
    COMMENT ON TABLE watched_counts IS
      'Recipients of watched runs by delivery report: the sum of its rows. Triggers add rows for each statement that changes '
      'outcomes. It has no foreign key, which would lock the run for each row.';
    COMMENT ON COLUMN watched_counts.is_canary IS 'As in slices.';
    COMMENT ON COLUMN watched_counts.variant IS 'As in envelopes.';
    COMMENT ON COLUMN watched_counts.destination IS
      'A destination of run_watches.destinations (destination_of); empty: all others together.';
    COMMENT ON COLUMN watched_counts.outcome IS
      'delivered, undelivered: as in recipient_outcomes. other price: recipients whose price is far from the rate card.';
    COMMENT ON COLUMN watched_counts.folded IS 'The row has the sum of former rows.';

    CREATE FUNCTION destination_of(address text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN strpos(address, '@') > 0 THEN lower(regexp_replace(address, '^.*@', '')) ELSE left(address, 6) END;
    COMMENT ON FUNCTION destination_of IS
      'What recipients are grouped by: the domain of an e-mail address, the first six characters of a phone number.';
  `);
}

/** SQL: a fold changes no outcome. Most statements are about runs that are not watched. */
const unlessUnwatched = (table: string): string => `
      IF current_setting('volley.moves_outcomes', true) = 'on'
         OR NOT EXISTS (SELECT FROM run_watches WHERE run_id = ANY (ARRAY(SELECT DISTINCT run_id FROM ${table}))) THEN
        RETURN NULL;
      END IF;`;

/**
 * SQL: adds counts of the outcomes in `changed`, which has run_id, request, position, outcome and sign. Those of a purged
 * run have no address, and change no count.
 */
const addCounts = (changed: string): string => `
      INSERT INTO watched_counts (run_id, is_canary, variant, destination, outcome, recipients)
      SELECT n.run_id, s.is_canary, e.variant, CASE WHEN n.destination = ANY (w.destinations) THEN n.destination ELSE '' END,
             n.outcome, sum(n.recipients)
      FROM (
        SELECT o.run_id, c.slice, c.envelopes[o.request - c.first_request + 1] AS envelope,
               destination_of(c.addresses[p.index]) AS destination, o.outcome, sum(o.sign) AS recipients
        FROM (${changed}) o
        CROSS JOIN LATERAL (
          -- Of a range that is open at one end, an index scan reads the rest of its page.
          SELECT coalesce(
                   (
                     SELECT max(first_request)
                     FROM contents
                     WHERE run_id = o.run_id AND first_request BETWEEN o.request - 32 AND o.request
                   ),
                   (SELECT max(first_request) FROM contents WHERE run_id = o.run_id AND first_request <= o.request)
                 ) AS first_request
          OFFSET 0
        ) b
        CROSS JOIN LATERAL (
          SELECT * FROM contents WHERE run_id = o.run_id AND first_request = b.first_request LIMIT 1
        ) c
        CROSS JOIN LATERAL (
          SELECT array_position(
                   c.positions, CAST(o.position AS smallint),
                   coalesce(array_position(c.request_offsets, CAST(least(o.request - c.first_request, 32767) AS smallint)), 1)
                 ) AS index
          OFFSET 0
        ) p
        WHERE o.outcome IN ('delivered', 'undelivered') AND c.addresses IS NOT NULL
        GROUP BY 1, 2, 3, 4, 5
      ) n
      CROSS JOIN LATERAL (SELECT is_canary FROM slices WHERE run_id = n.run_id AND slice = n.slice LIMIT 1) s
      LEFT JOIN LATERAL (
        SELECT variant FROM envelopes WHERE run_id = n.run_id AND envelope = n.envelope LIMIT 1
      ) e ON true
      JOIN run_watches w USING (run_id)
      GROUP BY 1, 2, 3, 4, 5
      HAVING sum(n.recipients) <> 0;`;

/** SQL: each session plans the statements once, also while tables are small, and must look up each row by its key. */
const triggerFunction = 'RETURNS trigger LANGUAGE plpgsql SET enable_seqscan TO off';

async function countOutcomes(knex: Knex): Promise<void> {
  const ofWatched = 'WHERE run_id IN (SELECT run_id FROM run_watches)';
  const columns = 'run_id, request, position, outcome';
  const added = addCounts(`SELECT ${columns}, 1 AS sign FROM added ${ofWatched}`);
  // Only those that differ: a purge and a price change many that do not.
  const changed = addCounts(`
          SELECT ${columns}, sum(sign) AS sign
          FROM (
            SELECT ${columns}, 1 AS sign FROM after
            UNION ALL
            SELECT ${columns}, -1 FROM before
          ) both_sides
          ${ofWatched}
          GROUP BY ${columns}
          HAVING sum(sign) <> 0`);
  const deleted = addCounts(`SELECT ${columns}, -1 AS sign FROM before ${ofWatched}`);
  const ofAdded = unlessUnwatched('added');
  const ofChanged = unlessUnwatched('before');
  await knex.raw(`
    CREATE FUNCTION count_added_watched() ${triggerFunction} AS $$
    BEGIN ${ofAdded}${added}
      RETURN NULL;
    END $$;
    CREATE TRIGGER watched_outcomes_added AFTER INSERT ON recipient_outcomes
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_added_watched();

    CREATE FUNCTION count_changed_watched() ${triggerFunction} AS $$
    BEGIN ${ofChanged}${changed}
      RETURN NULL;
    END $$;
    CREATE TRIGGER watched_outcomes_changed AFTER UPDATE ON recipient_outcomes
      REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION count_changed_watched();

    CREATE FUNCTION count_deleted_watched() ${triggerFunction} AS $$
    BEGIN ${ofChanged}${deleted}
      RETURN NULL;
    END $$;
    CREATE TRIGGER watched_outcomes_deleted AFTER DELETE ON recipient_outcomes
      REFERENCING OLD TABLE AS before FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_watched();
  `);
}

async function createRecount(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION recount_watched(run text)
    RETURNS TABLE (is_canary boolean, variant smallint, destination text, outcome text, recipients bigint)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
      SELECT s.is_canary, e.variant,
             CASE WHEN destination_of(o.address) = ANY (w.destinations) THEN destination_of(o.address) ELSE '' END, o.outcome,
             count(*)
      FROM run_watches w
      JOIN slices s ON s.run_id = w.run_id AND s.phase = 'sending'
      CROSS JOIN LATERAL recipient_results_between(run, s.first_request, s.last_request) o
      CROSS JOIN LATERAL (
        SELECT c.envelopes[o.request - c.first_request + 1] AS envelope
        FROM contents c
        WHERE c.run_id = run AND c.first_request <= o.request
        ORDER BY c.first_request DESC
        LIMIT 1
      ) q
      LEFT JOIN envelopes e ON e.run_id = run AND e.envelope = q.envelope
      WHERE w.run_id = run AND o.outcome IN ('delivered', 'undelivered')
      GROUP BY 1, 2, 3, 4;
    END;
    COMMENT ON FUNCTION recount_watched IS 'What watched_counts has of a run that is not purged, counted from its outcomes.';
  `);
}

/** The notifications of warnings go: nothing before could say what they are. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DELETE FROM notifications WHERE event = 'warned';
    ALTER TABLE notifications
      DROP CONSTRAINT notifications_event_check,
      ADD CONSTRAINT notifications_event_check
        CHECK (event IN ('completed', 'failures', 'paused', 'missed', 'refused'));
    COMMENT ON COLUMN notifications.event IS
      'completed: all requests of the run are accepted. failures: the run is over, and requests were rejected, '
      'failed, abandoned or are in doubt. paused: the run is paused. missed: a tick has no run. refused: Volley '
      'refused a run because of its contacts.';
    DROP FUNCTION recount_watched;
    DROP TRIGGER watched_outcomes_deleted ON recipient_outcomes;
    DROP TRIGGER watched_outcomes_changed ON recipient_outcomes;
    DROP TRIGGER watched_outcomes_added ON recipient_outcomes;
    DROP FUNCTION count_deleted_watched, count_changed_watched, count_added_watched;
    DROP TABLE watched_counts;
    DROP FUNCTION destination_of;
    ALTER TABLE run_watches DROP COLUMN destinations;
  `);
}
