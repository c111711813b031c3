import type { Knex } from 'knex';

/**
 * Billing as entries that are only added to: what a run's requests and recipients have come to, by the quarter of an hour
 * in which they were sent and by who pays. So a report adds up entries, not recipients. A block is a range of a run's
 * requests; it is open until its requests are in the entries as they are now. What becomes of single recipients waits in
 * `billing_changes`.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE runs ADD COLUMN rates jsonb;
    -- The tariff of each recipient among those of the run's rates; null: the first one for all.
    ALTER TABLE chunks ADD COLUMN tariffs smallint[];

    CREATE TABLE billing_blocks (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      block  integer NOT NULL,
      open   boolean NOT NULL,
      PRIMARY KEY (run_id, block)
    );
    CREATE INDEX billing_blocks_open ON billing_blocks (run_id, block) WHERE open;

    CREATE TABLE billing_entries (
      run_id         text NOT NULL REFERENCES runs ON DELETE CASCADE,
      block          integer NOT NULL,
      -- The beginning of the quarter of an hour in which it was sent.
      sent           timestamptz NOT NULL,
      -- When it counts: as it was sent, or where that period was closed, at the beginning of the next one.
      booked         timestamptz NOT NULL,
      sub_account    text,
      department     text,
      charge_code    text,
      requests       bigint NOT NULL DEFAULT 0,
      recipients     bigint NOT NULL DEFAULT 0,
      accepted       bigint NOT NULL DEFAULT 0,
      failed         bigint NOT NULL DEFAULT 0,
      unknown        bigint NOT NULL DEFAULT 0,
      delivered      bigint NOT NULL DEFAULT 0,
      undelivered    bigint NOT NULL DEFAULT 0,
      units          numeric NOT NULL DEFAULT 0,
      expected_units numeric NOT NULL DEFAULT 0,
      price          numeric NOT NULL DEFAULT 0,
      estimated      numeric NOT NULL DEFAULT 0,
      estimated_tax  numeric NOT NULL DEFAULT 0,
      unrated        bigint NOT NULL DEFAULT 0
    );
    CREATE UNIQUE INDEX billing_entries_key
      ON billing_entries (run_id, block, sent, booked, sub_account, department, charge_code) NULLS NOT DISTINCT;
    CREATE INDEX billing_entries_booked ON billing_entries (booked);

    CREATE TABLE billing_changes (
      run_id      text NOT NULL,
      request     integer NOT NULL,
      position    integer NOT NULL,
      delivered   smallint NOT NULL,
      undelivered smallint NOT NULL,
      units       numeric,
      price       numeric
    );

    -- Periods that are closed: the latest one ends where entries may still be booked.
    CREATE TABLE billing_closings (
      period     text PRIMARY KEY,
      time_zone  text NOT NULL,
      begins_at  timestamptz NOT NULL,
      ends_at    timestamptz NOT NULL UNIQUE,
      closed_at  timestamptz NOT NULL,
      closed_by  text NOT NULL
    );

    -- Who was left out of a request that was billed.
    CREATE INDEX recipient_outcomes_cancelled ON recipient_outcomes (run_id, request, position)
      WHERE outcome = 'cancelled';

    INSERT INTO billing_blocks (run_id, block, open)
    SELECT DISTINCT run_id, request / 4096, true FROM requests;
    INSERT INTO billing_changes (run_id, request, position, delivered, undelivered, units, price)
    SELECT run_id, request, position, CAST(outcome = 'delivered' AS integer), CAST(outcome = 'undelivered' AS integer),
           units, price
    FROM recipient_outcomes
    WHERE outcome <> 'cancelled';

    CREATE FUNCTION open_billing_block() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO billing_blocks (run_id, block, open) VALUES (NEW.run_id, NEW.request / 4096, true)
      ON CONFLICT (run_id, block) DO UPDATE SET open = true;
      RETURN NULL;
    END
    $$;
    -- What is settled changes seldom; before that its block is open anyway.
    CREATE TRIGGER settled_request_changes AFTER UPDATE ON requests FOR EACH ROW
      WHEN (OLD.state NOT IN ('planned', 'sending')
            AND (OLD.state, OLD.recipients, OLD.attempts) IS DISTINCT FROM (NEW.state, NEW.recipients, NEW.attempts))
      EXECUTE FUNCTION open_billing_block();
    CREATE TRIGGER request_is_divided AFTER INSERT ON requests FOR EACH ROW
      WHEN (NEW.divided_from IS NOT NULL)
      EXECUTE FUNCTION open_billing_block();

    CREATE FUNCTION note_billing_changes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO billing_changes (run_id, request, position, delivered, undelivered, units, price)
        SELECT run_id, request, position, CAST(outcome = 'delivered' AS integer),
               CAST(outcome = 'undelivered' AS integer), units, price
        FROM after_rows
        WHERE outcome <> 'cancelled';
      ELSE
        INSERT INTO billing_changes (run_id, request, position, delivered, undelivered, units, price)
        SELECT run_id, request, position,
               CAST(a.outcome = 'delivered' AS integer) - CAST(b.outcome = 'delivered' AS integer),
               CAST(a.outcome = 'undelivered' AS integer) - CAST(b.outcome = 'undelivered' AS integer),
               coalesce(a.units, 0) - coalesce(b.units, 0), coalesce(a.price, 0) - coalesce(b.price, 0)
        FROM after_rows a
        JOIN before_rows b USING (run_id, request, position)
        WHERE (a.outcome, a.units, a.price) IS DISTINCT FROM (b.outcome, b.units, b.price);
      END IF;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER outcomes_are_known AFTER INSERT ON recipient_outcomes
      REFERENCING NEW TABLE AS after_rows FOR EACH STATEMENT EXECUTE FUNCTION note_billing_changes();
    CREATE TRIGGER outcomes_change AFTER UPDATE ON recipient_outcomes
      REFERENCING OLD TABLE AS before_rows NEW TABLE AS after_rows
      FOR EACH STATEMENT EXECUTE FUNCTION note_billing_changes();
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TRIGGER outcomes_change ON recipient_outcomes;
    DROP TRIGGER outcomes_are_known ON recipient_outcomes;
    DROP FUNCTION note_billing_changes;
    DROP TRIGGER request_is_divided ON requests;
    DROP TRIGGER settled_request_changes ON requests;
    DROP FUNCTION open_billing_block;
    DROP INDEX recipient_outcomes_cancelled;
    DROP TABLE billing_closings, billing_changes, billing_entries, billing_blocks;
    ALTER TABLE chunks DROP COLUMN tariffs;
    ALTER TABLE runs DROP COLUMN rates;
  `);
}
