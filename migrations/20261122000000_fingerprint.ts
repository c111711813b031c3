import type { Knex } from 'knex';

/**
 * The fingerprint of the ledger's schema. Its migration is the first: a ledger that has migrations but no fingerprint
 * is one from before 0.3.0.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE ledger_schema (
      singleton  boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      volley     text NOT NULL,
      migrations jsonb NOT NULL,
      objects    jsonb NOT NULL
    );
    COMMENT ON TABLE ledger_schema IS
      'One row: the schema that this ledger should have. Each migration records what it has changed '
      '(ledger/fingerprint.ts).';
    COMMENT ON COLUMN ledger_schema.singleton IS 'Limits the table to one row.';
    COMMENT ON COLUMN ledger_schema.volley IS 'The version of Volley that migrated last.';
    COMMENT ON COLUMN ledger_schema.migrations IS 'The digest of each migration, by its name.';
    COMMENT ON COLUMN ledger_schema.objects IS
      'What migrations have made: the definition of each object, by its name, as in schema_objects.';

    -- Equal in each version of Postgres, and after a dump and its restore: no text that Postgres formats, and
    -- no NOT NULL constraints, which have rows of their own since Postgres 18. pg-boss looks after its own schema.
    CREATE VIEW schema_objects (kind, relation, name, definition) AS
    WITH relations AS (
      SELECT oid, relname, relkind
      FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v')
    )
    SELECT CASE WHEN relkind = 'v' THEN 'view' ELSE 'table' END, relname::text, NULL, ''
    FROM relations
    UNION ALL
    SELECT 'column', relname, attname,
           concat_ws(':', format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'not_null' END,
                     CASE WHEN atthasdef THEN 'default' END)
    FROM relations JOIN pg_attribute ON attrelid = relations.oid AND attnum > 0 AND NOT attisdropped
    UNION ALL
    SELECT 'constraint', relname, conname,
           CASE contype WHEN 'p' THEN 'primary_key' WHEN 'u' THEN 'unique' WHEN 'f' THEN 'references' WHEN 'c' THEN 'check'
                        ELSE contype::text END
    FROM relations JOIN pg_constraint ON conrelid = relations.oid AND contype NOT IN ('n', 't')
    UNION ALL
    SELECT CASE WHEN indisunique THEN 'unique_index' ELSE 'index' END, relations.relname, i.relname, ''
    FROM relations JOIN pg_index ON indrelid = relations.oid JOIN pg_class i ON i.oid = indexrelid
    UNION ALL
    SELECT 'trigger', relname, tgname, CASE tgenabled WHEN 'D' THEN 'disabled' ELSE 'enabled' END
    FROM relations JOIN pg_trigger ON tgrelid = relations.oid AND NOT tgisinternal
    UNION ALL
    SELECT 'function', NULL, proname || '(' || oidvectortypes(proargtypes) || ')',
           concat_ws(':', format_type(prorettype, NULL), left(encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'), 12))
    FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace
    UNION ALL
    SELECT 'domain', NULL, typname, format_type(typbasetype, typtypmod)
    FROM pg_type
    WHERE typnamespace = current_schema()::regnamespace AND typtype = 'd';
    COMMENT ON VIEW schema_objects IS 'What the schema of the ledger consists of, for the comparison with ledger_schema.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP VIEW schema_objects; DROP TABLE ledger_schema');
}
