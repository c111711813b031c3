import type { Knex } from 'knex';

/** What a report decided is taken back where it is read otherwise later: billing has to hear of that, too. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION note_withdrawn_outcomes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO billing_changes (run_id, request, position, delivered, undelivered, units, price)
      SELECT run_id, request, position, -CAST(outcome = 'delivered' AS integer),
             -CAST(outcome = 'undelivered' AS integer), -units, -price
      FROM before_rows
      WHERE outcome <> 'cancelled';
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER outcomes_are_withdrawn AFTER DELETE ON recipient_outcomes
      REFERENCING OLD TABLE AS before_rows FOR EACH STATEMENT EXECUTE FUNCTION note_withdrawn_outcomes();
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TRIGGER outcomes_are_withdrawn ON recipient_outcomes;
    DROP FUNCTION note_withdrawn_outcomes;
  `);
}
