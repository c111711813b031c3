import type { Knex } from 'knex';

/**
 * When a run became what, so that it can be told when it began, was paused and went on. A trigger writes it, because
 * several transactions change a run's state and none may be forgotten; its times are those of Postgres, but for the
 * planning and the end, which the run has itself.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_states (
      run_id     text NOT NULL REFERENCES runs ON DELETE CASCADE,
      change     bigint GENERATED ALWAYS AS IDENTITY,
      state      text NOT NULL,
      reason     text,
      changed_at timestamptz NOT NULL,
      PRIMARY KEY (run_id, change)
    );

    -- Of runs from before, the beginning and the end are known.
    INSERT INTO run_states (run_id, state, reason, changed_at)
    SELECT run_id, state, reason, changed_at
    FROM (
      SELECT run_id, 1 AS place, 'planned' AS state, NULL AS reason, created_at AS changed_at FROM runs
      UNION ALL
      SELECT run_id, 2, 'running', NULL, min(started_at) FROM attempts JOIN runs USING (run_id) GROUP BY run_id
      UNION ALL
      SELECT run_id, 3, state, state_reason, finished_at FROM runs WHERE finished_at IS NOT NULL
    ) known
    ORDER BY run_id, place;

    CREATE FUNCTION note_run_state() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO run_states (run_id, state, reason, changed_at)
      VALUES (NEW.run_id, NEW.state, NEW.state_reason,
              CASE WHEN TG_OP = 'INSERT' THEN NEW.created_at ELSE coalesce(NEW.finished_at, clock_timestamp()) END);
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER run_is_planned AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION note_run_state();
    CREATE TRIGGER run_state_changes AFTER UPDATE ON runs FOR EACH ROW
      WHEN (OLD.state IS DISTINCT FROM NEW.state)
      EXECUTE FUNCTION note_run_state();
  `);
}

/** When runs were paused and went on is lost. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TRIGGER run_state_changes ON runs;
    DROP TRIGGER run_is_planned ON runs;
    DROP FUNCTION note_run_state;
    DROP TABLE run_states;
  `);
}
