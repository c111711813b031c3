import type { ServerAddress } from '../../src/platform/embedded-postgres.ts';
import { runStatement } from './statement.ts';

/** The URL of an embedded server; append `/` and a database. */
export function urlOfServer({ host, port, user }: ServerAddress, as = user): string {
  return `postgres://${as}@${encodeURIComponent(host)}:${port}`;
}

/** The superuser is only for tests. */
export function superuserUrl(address: ServerAddress): string {
  return `${urlOfServer(address, 'postgres')}/postgres`;
}

/**
 * Gives Volley's role additional rights for tests: create databases and roles, run checkpoints, and restore
 * rows. Volley itself needs no such rights.
 */
export async function grantTestRights(address: ServerAddress): Promise<void> {
  const url = superuserUrl(address);
  await runStatement(url, `ALTER ROLE ${address.user} CREATEDB CREATEROLE`);
  await runStatement(url, `GRANT pg_checkpoint TO ${address.user}`);
  await runStatement(url, `GRANT SET ON PARAMETER session_replication_role TO ${address.user}`);
}

/**
 * For a temporary server with thousands of connections: clones template files, keeps less write-ahead log, and
 * lets only Volley's role log in without a password, which saves 4 ms.
 */
export async function tuneForTests(address: ServerAddress): Promise<void> {
  const url = superuserUrl(address);
  await runStatement(url, `ALTER SYSTEM SET file_copy_method = 'clone'`);
  await runStatement(url, `ALTER SYSTEM SET max_wal_size = '128MB'`);
  await runStatement(url, 'SELECT pg_reload_conf()');
}
