import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embeddedServerStatus, type ServerAddress } from '../../src/platform/embedded-postgres.ts';
import { runStatement } from './statement.ts';

/** The server's address for its superuser, who is used for nothing but tests here. */
export function superuserUrl(home: string, { host, port }: ServerAddress): string {
  const password = readFileSync(join(home, 'admin-password'), 'utf8').trim();
  return `postgres://postgres:${password}@${host}:${port}/postgres`;
}

/**
 * Lets Volley's role of an embedded server do what only tests do: make databases and roles, write what is in memory to the disk, and
 * bring rows back as a restoration does. Whatever Volley itself does, it does without being a superuser.
 */
export async function grantTestRights(home: string, address: ServerAddress): Promise<void> {
  const url = superuserUrl(home, address);
  await runStatement(url, `ALTER ROLE ${address.user} CREATEDB CREATEROLE`);
  await runStatement(url, `GRANT pg_checkpoint TO ${address.user}`);
  await runStatement(url, `GRANT SET ON PARAMETER session_replication_role TO ${address.user}`);
}

/**
 * For a server that is thrown away, with a database for each test file and some thousand connections: the kernel copies a
 * template's files, less of what was written is kept, and Volley's role alone needs no password, whose proof takes 4 ms.
 */
export async function makeQuick(home: string, address: ServerAddress): Promise<void> {
  const url = superuserUrl(home, address);
  await runStatement(url, `ALTER SYSTEM SET file_copy_method = 'clone'`);
  await runStatement(url, `ALTER SYSTEM SET max_wal_size = '128MB'`);
  const rules = join(embeddedServerStatus(home).dataFolder, 'pg_hba.conf');
  writeFileSync(rules, `host all ${address.user} ${address.host}/32 trust\n${readFileSync(rules, 'utf8')}`);
  await runStatement(url, 'SELECT pg_reload_conf()');
}
