import type { ServerAddress } from '../../src/platform/embedded-postgres.ts';
import { runStatement } from './statement.ts';

/** The address of an embedded server for a user, to which `/` and a database may be added. */
export function urlOfServer({ host, port, user }: ServerAddress, as = user): string {
  return `postgres://${as}@${encodeURIComponent(host)}:${port}`;
}

/** The server's address for its superuser, who is used for nothing but tests here. */
export function superuserUrl(address: ServerAddress): string {
  return `${urlOfServer(address, 'postgres')}/postgres`;
}

/**
 * Lets Volley's role of an embedded server do what only tests do: make databases and roles, write what is in memory to the disk, and
 * bring rows back as a restoration does. Whatever Volley itself does, it does without being a superuser.
 */
export async function grantTestRights(address: ServerAddress): Promise<void> {
  const url = superuserUrl(address);
  await runStatement(url, `ALTER ROLE ${address.user} CREATEDB CREATEROLE`);
  await runStatement(url, `GRANT pg_checkpoint TO ${address.user}`);
  await runStatement(url, `GRANT SET ON PARAMETER session_replication_role TO ${address.user}`);
}

/**
 * For a server that is thrown away, with a database for each test file and some thousand connections: the kernel copies a
 * template's files, less of what was written is kept, and Volley's role alone needs no password, whose proof takes 4 ms.
 */
export async function makeQuick(address: ServerAddress): Promise<void> {
  const url = superuserUrl(address);
  await runStatement(url, `ALTER SYSTEM SET file_copy_method = 'clone'`);
  await runStatement(url, `ALTER SYSTEM SET max_wal_size = '128MB'`);
  await runStatement(url, 'SELECT pg_reload_conf()');
}
