import type { Knex } from 'knex';

/**
 * A request belongs to the time of its last attempt, and so does what was reported of it before: a service that answers
 * "busy" may have taken it all the same, and reports on it before it is sent again. What was booked under the earlier
 * attempt is taken from there.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The attempt at whose time the change is booked; null: the last one there is then.
    ALTER TABLE billing_changes ADD COLUMN attempt integer;
    -- A service that is busy for all requests, and reports on them, would have all changes read for each.
    CREATE INDEX billing_changes_request ON billing_changes (run_id, request);

    CREATE FUNCTION move_billed_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM recipient_outcomes
                 WHERE run_id = NEW.run_id AND request = NEW.request AND outcome <> 'cancelled') THEN
        -- One statement, so that outcomes and what is not booked of them are seen as of the same moment.
        WITH kept AS (
          UPDATE billing_changes SET attempt = OLD.attempts
          WHERE run_id = NEW.run_id AND request = NEW.request AND attempt IS NULL
        )
        INSERT INTO billing_changes (run_id, request, position, delivered, undelivered, units, price, attempt)
        SELECT run_id, request, position, CAST(sign * CAST(outcome = 'delivered' AS integer) AS smallint),
               CAST(sign * CAST(outcome = 'undelivered' AS integer) AS smallint), sign * units, sign * price, attempt
        FROM recipient_outcomes
        CROSS JOIN (VALUES (-1, OLD.attempts), (1, NULL)) AS side (sign, attempt)
        WHERE run_id = NEW.run_id AND request = NEW.request AND outcome <> 'cancelled';
      END IF;
      RETURN NULL;
    END
    $$;
    -- First attempts, which are nearly all, have nothing to move.
    CREATE TRIGGER request_is_tried_again AFTER UPDATE ON requests FOR EACH ROW
      WHEN (OLD.attempts > 0 AND NEW.attempts > OLD.attempts)
      EXECUTE FUNCTION move_billed_outcomes();
  `);
}

/** What is not booked yet of earlier attempts is booked at the last one. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TRIGGER request_is_tried_again ON requests;
    DROP FUNCTION move_billed_outcomes;
    DROP INDEX billing_changes_request;
    ALTER TABLE billing_changes DROP COLUMN attempt;
  `);
}
