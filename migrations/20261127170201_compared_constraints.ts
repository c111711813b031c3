import type { Knex } from 'knex';

/** Each statement commits by itself, so other processes write meanwhile. */
export const config = { transaction: false };

/** Compares the constraints of the migration before with old rows. */
export async function up(knex: Knex): Promise<void> {
  const { rows }: { rows: { statement: string }[] } = await knex.raw(`
    SELECT format('ALTER TABLE %s VALIDATE CONSTRAINT %I', conrelid::regclass, conname) AS statement
    FROM pg_constraint
    WHERE NOT convalidated AND contype IN ('c', 'f') AND connamespace = current_schema()::regnamespace
    ORDER BY conname
  `);
  for (const { statement } of rows) await knex.raw(statement);
}

/** A compared constraint is no other constraint. */
export async function down(): Promise<void> {}
