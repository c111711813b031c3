import type { Knex } from 'knex';

/** The person behind a session that the company's identity provider vouches for. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE sessions ADD COLUMN person text;
    COMMENT ON COLUMN sessions.person IS
      'The person who signed in with the identity provider of the company; null: the owner of the token did.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE sessions DROP COLUMN person');
}
