import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

export function urlOfDatabase(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs a statement on a new connection. */
export async function runStatement(
  url: string,
  statement: string,
  values: string[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // The query fails too; an unhandled event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement, values);
    return rows;
  } finally {
    await client.end();
  }
}

/** A tenth of a second apart, while an autovacuum worker is busy. */
const maxAttempts = 100;

/**
 * Ends all sessions and drops the database. The role cannot end autovacuum workers, which end by themselves.
 */
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
