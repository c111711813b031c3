import type { Knex } from 'knex';

/**
 * What the recipients of a block share stays in its row: each of them refers to it, and Postgres would fetch a value
 * that is stored elsewhere for each. Blocks that were written before change with the next fold.
 */
const shared = {
  folded_outcomes: ['outcomes', 'units', 'prices', 'places', 'reports'],
  folded_reports: ['results', 'statuses'],
};

export async function up(knex: Knex): Promise<void> {
  await store(knex, 'MAIN');
}

export async function down(knex: Knex): Promise<void> {
  await store(knex, 'EXTENDED');
}

async function store(knex: Knex, storage: string): Promise<void> {
  for (const [table, columns] of Object.entries(shared)) {
    const each = columns.map((column) => `ALTER COLUMN ${column} SET STORAGE ${storage}`);
    await knex.raw(`ALTER TABLE ${table} ${each.join(', ')}`);
  }
}
