import type { Knex } from 'knex';

/** Compares the constraints of the migration before with old rows, in a transaction of its own: others write meanwhile. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    DECLARE
      added record;
    BEGIN
      FOR added IN
        SELECT CAST(conrelid::regclass AS text) AS relation, conname
        FROM pg_constraint
        WHERE NOT convalidated AND contype IN ('c', 'f') AND connamespace = current_schema()::regnamespace
        ORDER BY conrelid
      LOOP
        EXECUTE format('ALTER TABLE %s VALIDATE CONSTRAINT %I', added.relation, added.conname);
      END LOOP;
    END $$;
  `);
}

/** A compared constraint is no other constraint. */
export async function down(): Promise<void> {}
