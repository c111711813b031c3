import { Client } from 'pg';
import { hasCode } from './file-error.ts';
import { databaseName, roleName } from './server-data.ts';

/** Where the server listens, and how to log in. */
export type ServerAddress = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

/** Logs in to the database, which is made if it is missing: so a server is handed out only when it can be used. */
export async function ensureDatabase(port: number, password: string): Promise<ServerAddress> {
  const address = { host: '127.0.0.1', port, user: roleName, password, database: databaseName };
  try {
    await query(address, 'SELECT 1');
  } catch (error) {
    // invalid_catalog_name
    if (!hasCode(error, '3D000')) throw error;
    await query({ ...address, database: 'postgres' }, `CREATE DATABASE ${databaseName}`);
  }
  return address;
}

async function query(address: ServerAddress, statement: string): Promise<void> {
  const client = new Client({ ...address, connectionTimeoutMillis: 30_000 });
  // A server that dies just now also fails what is being awaited; without a listener it would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
