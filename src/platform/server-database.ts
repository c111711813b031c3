import { Client } from 'pg';
import { hasCode } from './file-error.ts';
import { adminName, databaseName, roleName } from './server-data.ts';

/** Where the server listens, and how to log in. */
export type ServerAddress = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
};

/**
 * Logs in to the database, as a role that is no superuser; both are made if they are missing. So a server is handed out only
 * when it can be used.
 */
export async function ensureDatabase(
  port: number,
  passwordOf: (role: 'password' | 'adminPassword') => string,
): Promise<ServerAddress> {
  const server = { host: '127.0.0.1', port };
  const address = { ...server, user: roleName, password: passwordOf('password'), database: databaseName };
  try {
    await query(address, 'SELECT 1');
  } catch (error) {
    // invalid_password, which a role that is missing is too; invalid_catalog_name
    if (!hasCode(error, '28P01') && !hasCode(error, '3D000')) throw error;
    const admin = { ...server, user: adminName, password: passwordOf('adminPassword'), database: 'postgres' };
    await makeMissing(admin, address.password);
    await query(address, 'SELECT 1');
  }
  return address;
}

async function makeMissing(admin: ServerAddress, password: string): Promise<void> {
  const roles = await query(admin, `SELECT FROM pg_roles WHERE rolname = '${roleName}'`);
  const verb = roles === 0 ? 'CREATE' : 'ALTER';
  await query(admin, `${verb} ROLE ${roleName} LOGIN NOSUPERUSER PASSWORD '${password}'`);
  const databases = await query(admin, `SELECT FROM pg_database WHERE datname = '${databaseName}'`);
  if (databases === 0) await query(admin, `CREATE DATABASE ${databaseName} OWNER ${roleName}`);
}

/** @returns how many rows there were */
async function query(address: ServerAddress, statement: string): Promise<number> {
  const client = new Client({ ...address, connectionTimeoutMillis: 30_000 });
  // A server that dies just now also fails what is being awaited; without a listener it would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
