import type { Knex } from 'knex';

/** A ledger that is held because something is known to be missing in it, not only because it was moved. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE ledger_place ADD COLUMN incomplete boolean NOT NULL DEFAULT false');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE ledger_place DROP COLUMN incomplete');
}
