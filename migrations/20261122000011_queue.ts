import type { Knex } from 'knex';
import { installQueue, removeQueue } from '../src/ledger/slices/queue.ts';

/** pg-boss brings its own tables, in a schema of their own. It commits by itself, and doing it twice changes nothing. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await installQueue(knex);
}

export async function down(knex: Knex): Promise<void> {
  await removeQueue(knex);
}
