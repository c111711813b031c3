import type { Knex } from 'knex';
import { installQueue, removeQueue } from '../src/ledger/slices/queue.ts';

/** pg-boss creates its tables in its own schema. It commits by itself, and is idempotent. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  await installQueue(knex);
}

export async function down(knex: Knex): Promise<void> {
  await removeQueue(knex);
}
