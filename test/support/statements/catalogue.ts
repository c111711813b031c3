import type pg from 'pg';
import type { RunTables } from './run-keys.ts';

/** Tables, views and functions of runs, from Postgres's catalogue. */
export async function readRunTables(pool: pg.Pool): Promise<RunTables> {
  const { rows: tables } = await pool.query<{ name: string }>(`
    SELECT c.relname AS name
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND (
      c.relkind = 'v' AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'run_id')
      OR EXISTS (
        SELECT FROM pg_index i
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = c.oid AND a.attname = 'run_id'
          AND (i.indisprimary OR i.indisunique AND NOT EXISTS (
            SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'p'
          ))
      )
    )
  `);
  const { rows: functions } = await pool.query<{ name: string }>(`
    SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proargnames[1] = 'run'
  `);
  return {
    tables: new Set(tables.map(({ name }) => name)),
    functions: new Set(functions.map(({ name }) => name)),
  };
}

/** Describes parts of run tables that Citus cannot distribute as they are. */
export async function readObstacles(pool: pg.Pool, { tables }: RunTables): Promise<readonly string[]> {
  const { rows } = await pool.query<{ obstacle: string }>(
    `
    WITH of_runs AS (
      SELECT c.oid, c.relname FROM pg_class c
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname = ANY ($1::text[])
    )
    SELECT 'trigger ' || t.tgname || ' on ' || o.relname AS obstacle
    FROM of_runs o JOIN pg_trigger t ON t.tgrelid = o.oid AND NOT t.tgisinternal
    UNION ALL
    SELECT 'identity ' || o.relname || '.' || a.attname
    FROM of_runs o JOIN pg_attribute a ON a.attrelid = o.oid AND a.attidentity <> ''
    UNION ALL
    SELECT 'unique index ' || i.indexrelid::regclass
    FROM of_runs o JOIN pg_index i ON i.indrelid = o.oid AND i.indisunique
    WHERE NOT EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = o.oid AND a.attname = 'run_id' AND a.attnum = ANY (i.indkey)
    )
    UNION ALL
    SELECT 'reference ' || o.relname || ' to ' || f.confrelid::regclass || ' by ' || pg_get_constraintdef(f.oid)
    FROM of_runs o JOIN pg_constraint f ON f.conrelid = o.oid AND f.contype = 'f'
    JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum = f.conkey[1]
    WHERE a.attname <> 'run_id'
    ORDER BY 1
    `,
    [[...tables]],
  );
  return rows.map(({ obstacle }) => obstacle);
}
