import type { Knex } from 'knex';

/**
 * What an account owes its rate is a time by the database's clock. When that clock is set back, it would be owed for as
 * long again: so it is known when the row was last reckoned with, and what was owed then.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE rate_limits
      ADD COLUMN seen_at timestamptz,
      -- The last time that the clock was found to have stepped back, by the clock as it was then, and by how much.
      ADD COLUMN stepped_at timestamptz,
      ADD COLUMN stepped_by interval,
      ADD CHECK ((stepped_at IS NULL) = (stepped_by IS NULL));
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'ALTER TABLE rate_limits DROP COLUMN seen_at, DROP COLUMN stepped_at, DROP COLUMN stepped_by',
  );
}
