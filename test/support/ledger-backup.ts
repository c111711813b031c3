import { Client } from 'pg';

/** A copy of a ledger in another schema of its database. */
export type LedgerBackup = {
  /** Replaces the ledger, like `pg_restore --clean`, even while clients are connected. */
  readonly restore: () => Promise<void>;
};

/** The tables of Volley and its queue that contain rows. */
const tablesStatement = `
  SELECT quote_ident(nspname) || '.' || quote_ident(relname) AS name,
         'saved.' || quote_ident(nspname || '_' || relname) AS saved,
         (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum)
          FROM pg_attribute
          WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE relkind = 'r' AND nspname IN ('public', 'volley_queue')`;

type SavedTable = { readonly name: string; readonly saved: string; readonly columns: string };

export async function backUpLedger(url: string): Promise<LedgerBackup> {
  const tables = await inOneTransaction(url, async (client) => {
    const { rows } = await client.query<SavedTable>(tablesStatement);
    await client.query('DROP SCHEMA IF EXISTS saved CASCADE; CREATE SCHEMA saved');
    for (const { name, saved, columns } of rows)
      await client.query(`CREATE TABLE ${saved} AS SELECT ${columns} FROM ${name}`);
    return rows;
  });
  const restore = (): Promise<void> =>
    inOneTransaction(url, async (client) => {
      // Without triggers and foreign keys, like a real restore.
      await client.query(`SET LOCAL session_replication_role = 'replica'`);
      await client.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
      for (const { name, saved, columns } of tables)
        await client.query(
          `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${saved}`,
        );
    });
  return { restore };
}

async function inOneTransaction<Result>(
  url: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } finally {
    await client.end();
  }
}
