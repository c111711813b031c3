import type { Knex } from 'knex';

/** A call with several reports is replaced by one for each, so a purge is no longer all that changes the inbox. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    COMMENT ON TABLE inbox IS
      'Calls of the webhook, and answers of status look-ups, as they came, so they can be read again at any time. A '
      'call with several delivery reports is replaced by a call for each when it is read; a purge deletes calls.'
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    COMMENT ON TABLE inbox IS
      'Calls of the webhook, and answers of status look-ups, as they came. Only a purge changes them, so they can '
      'be read again at any time.'
  `);
}
