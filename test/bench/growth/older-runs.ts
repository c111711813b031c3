import pg from 'pg';
import { z } from 'zod';

/** Copies that one statement makes. */
const batch = 10;

const columnsOf = z.array(z.object({ table: z.string(), columns: z.array(z.string()) }));

/**
 * Copies a run that is over, with all rows that the ledger has of it, so that the ledger holds as many older runs as
 * asked. Rows without a run, such as raw delivery reports, are not copied.
 */
export async function copyRun(databaseUrl: string, run: string, copies: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Triggers would count the copies, and references are right anyway.
    await client.query('SET session_replication_role = replica');
    const { rows } = await client.query(`
      SELECT c.relname AS table,
             json_agg(a.attname) FILTER (WHERE a.attidentity = '' AND a.attgenerated = '') AS columns
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      GROUP BY c.relname
      HAVING bool_or(a.attname = 'run_id')
    `);
    for (const { table, columns } of columnsOf.parse(rows)) {
      const values = columns.map((column) => valueFor(table, column));
      for (let first = 1; first <= copies; first += batch) {
        await client.query(
          `INSERT INTO ${table} (${columns.map((column) => `"${column}"`).join(', ')})
           SELECT ${values.join(', ')}
           FROM generate_series($2::integer, $3::integer) AS copy
           CROSS JOIN ${table}
           WHERE run_id = $1`,
          [run, first, Math.min(first + batch - 1, copies)],
        );
      }
    }
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
}

/** SQL: a copy has an id of its own, as of an earlier year, and is older than those before it. */
function valueFor(table: string, column: string): string {
  if (column === 'run_id') return `'250101-' || lpad(CAST(copy AS text), 5, '0')`;
  const isTime = table === 'runs' && ['created_at', 'finished_at'].includes(column);
  return isTime ? `"${column}" - copy * interval '1 hour'` : `"${column}"`;
}
