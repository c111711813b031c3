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
