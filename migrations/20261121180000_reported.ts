import type { Knex } from 'knex';

/**
 * A delivery report proves that the service has a request, also one that comes before its answer is recorded. It is kept
 * with the request as long as that is not settled, so that whatever ends its sending finds it: in the row itself, because
 * a statement that waited for the row sees what has become of that, and of no other.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE requests ADD COLUMN reported boolean NOT NULL DEFAULT false');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE requests DROP COLUMN reported');
}
