import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';

/** What a ledger takes. Sizes in bytes, with indexes and TOAST. */
export type Size = {
  /** A partition counts for its table. */
  readonly tables: ReadonlyMap<string, number>;
  /** The data folder, without WAL. */
  readonly disk: number;
  /** Written since the server was made. */
  readonly wal: number;
  readonly deadRows: number;
  readonly vacuums: number;
  /** Null: Postgres before 18 does not say. */
  readonly vacuumSeconds: number | null;
};

const tableSizes = z.array(z.object({ name: z.string(), bytes: z.number() }));
const activity = z.tuple([
  z.object({
    wal: z.number(),
    deadRows: z.number(),
    vacuums: z.number(),
    vacuumSeconds: z.number().nullable(),
    busy: z.boolean(),
  }),
]);

export async function readSize(databaseUrl: string, dataFolder: string): Promise<Size> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(`
      SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || root.relname AS name,
             CAST(sum(pg_total_relation_size(c.oid)) AS float8) AS bytes
      FROM pg_class c
      JOIN pg_class root ON root.oid = coalesce(pg_partition_root(c.oid), c.oid)
      JOIN pg_namespace n ON n.oid = root.relnamespace
      WHERE c.relkind IN ('r', 'm', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
      GROUP BY 1
    `);
    const tables = new Map(tableSizes.parse(rows).map(({ name, bytes }) => [name, bytes]));
    return { tables, disk: diskUse(dataFolder), ...(await readActivity(client)) };
  } finally {
    await client.end();
  }
}

async function readActivity(client: pg.Client) {
  const { rows } = await client.query(`
    SELECT CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS float8) AS wal,
           CAST(sum(n_dead_tup) AS float8) AS "deadRows", CAST(sum(autovacuum_count) AS float8) AS vacuums,
           CAST(sum(CAST(to_jsonb(t) ->> 'total_autovacuum_time' AS float8)) / 1000 AS float8) AS "vacuumSeconds",
           -- A statement may think for long before it writes.
           EXISTS (
             SELECT
             FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()
               AND (backend_type = 'autovacuum worker' OR xact_start < clock_timestamp() - interval '1 second')
           ) AS busy
    FROM pg_stat_user_tables t
  `);
  return activity.parse(rows)[0];
}

/** Bytes of the blocks of all files, as `du` counts them. */
function diskUse(folder: string): number {
  const size = (entry: Dirent): number => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'pg_wal' ? 0 : diskUse(path);
    // A file of Postgres may have been deleted since.
    return (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  };
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => sum + size(entry), 0);
}

/** Milliseconds. Autovacuum begins a round every five seconds (`vacuumOften`). */
const quietFor = 15_000;
const longest = 600_000;

/** Waits until background work and autovacuum have changed nothing for a while. */
export async function waitUntilQuiet(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const begun = Date.now();
    let last = await readActivity(client);
    for (let since = begun; Date.now() - since < quietFor && Date.now() - begun < longest; ) {
      await sleep(1_000);
      const now = await readActivity(client);
      if (now.busy || now.vacuums !== last.vacuums || now.wal - last.wal > noise) since = Date.now();
      last = now;
    }
  } finally {
    await client.end();
  }
}

/** Bytes of WAL in a second, of heartbeats and of Postgres itself. */
const noise = 100_000;

/** Autovacuum looks for work every five seconds instead of every minute, so that a stage needs no minutes to settle. */
export async function vacuumOften(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query("ALTER SYSTEM SET autovacuum_naptime = '5s'");
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}
