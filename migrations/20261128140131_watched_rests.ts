import type { Knex } from 'knex';

/**
 * Runs whose contacts wait for a winner are watched as other runs are, and a guard that only warns notifies of each kind of
 * finding.
 */
export async function up(knex: Knex): Promise<void> {
  await lockTables(knex);
  await knex.raw(`
    INSERT INTO run_watches (run_id, evidence)
    SELECT run_id, jsonb_build_object('variants', jsonb_build_object('observedMs', observed_ms))
    FROM run_rests
    WHERE rest_run IS NULL AND variant IS NULL AND source IS NOT NULL
    ON CONFLICT (run_id) DO UPDATE SET evidence = coalesce(run_watches.evidence, '{}') || excluded.evidence;
    INSERT INTO watched_counts (run_id, is_canary, variant, destination, outcome, recipients)
    SELECT t.run_id, c.*
    FROM run_rests t
    CROSS JOIN LATERAL recount_watched(t.run_id) c
    WHERE t.rest_run IS NULL AND t.variant IS NULL AND t.source IS NOT NULL
      AND NOT EXISTS (SELECT FROM watched_counts k WHERE k.run_id = t.run_id);
    ALTER TABLE run_rests DROP COLUMN observed_ms, DROP COLUMN looked_at;
    COMMENT ON TABLE run_watches IS
      'Runs with a canary, a guard or a winner to wait for. Workers look at them about once a second while they are running, '
      'and every five seconds while their contacts wait for the winner.';
    COMMENT ON COLUMN run_watches.evidence IS
      'What the canary, the guard and the variants keep from look to look; null: nothing.';

    ALTER TABLE notifications DROP CONSTRAINT notifications_run_id_change_target_index_key;
    CREATE UNIQUE INDEX notifications_of_change
      ON notifications (run_id, change, target_index, coalesce(reason ->> 'kind', ''));
  `);
}

/** Of the warnings of a run, one stays for each target. */
export async function down(knex: Knex): Promise<void> {
  await lockTables(knex);
  await knex.raw(`
    DROP INDEX notifications_of_change;
    DELETE FROM notifications n
    USING notifications other
    WHERE other.run_id = n.run_id AND other.change = n.change AND other.target_index = n.target_index
      AND other.notification < n.notification;
    ALTER TABLE notifications
      ADD CONSTRAINT notifications_run_id_change_target_index_key UNIQUE (run_id, change, target_index);

    COMMENT ON TABLE run_watches IS
      'Runs with a canary, a guard or variants. Workers look at them about once a second while they are running.';
    COMMENT ON COLUMN run_watches.evidence IS 'What the guard has seen so far; null: nothing.';
    ALTER TABLE run_rests
      ADD COLUMN observed_ms bigint NOT NULL DEFAULT 0 CHECK (observed_ms >= 0),
      ADD COLUMN looked_at timestamptz;
    COMMENT ON COLUMN run_rests.observed_ms IS
      'How long it has been observed since all was sent. Each look adds the time since the one before, but at most 10 '
      'seconds.';
    COMMENT ON COLUMN run_rests.looked_at IS 'When Volley last looked; null: it has not.';
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
          LOCK TABLE run_rests, run_watches, notifications IN ACCESS EXCLUSIVE MODE;
          EXIT;
        EXCEPTION WHEN lock_not_available THEN
          PERFORM pg_sleep(0.2);
        END;
      END LOOP;
      SET LOCAL lock_timeout = 0;
    END $$;
  `);
}
