import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

/** The same server's address with another database. */
export function urlOfDatabase(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs one statement on a connection of its own. */
export async function runStatement(
  url: string,
  statement: string,
  values: string[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // A connection that breaks fails the query too; as an event that nobody hears it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement, values);
    return rows;
  } finally {
    await client.end();
  }
}

/** Tries, a tenth of a second apart, to delete a database in which a worker of autovacuum is busy. */
const maxAttempts = 100;

/** Ends what is still connected, and deletes the database. The role may not end workers of autovacuum: they end by themselves. */
export async function dropDatabase(server: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await runStatement(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      return;
    } catch (error) {
      const refused = error instanceof Error && 'code' in error && error.code === '42501';
      if (!refused || attempt === maxAttempts) throw error;
      await sleep(100);
    }
  }
}
