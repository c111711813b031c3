import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What a test needs to make a server and a standby of it. Volley's own Postgres comes without `pg_basebackup`. */
const needed = ['postgres', 'initdb', 'pg_ctl', 'pg_basebackup'];

/** Where Debian and its relatives install Postgres, a folder a version. */
const debian = '/usr/lib/postgresql';

/**
 * The folder of Postgres programs with which servers can be replicated: the first on the PATH, or else Debian's newest.
 *
 * @throws Error, where this machine has none
 */
export function findPostgresPrograms(): string {
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => +other - +one) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  const found = folders.find((folder) => needed.every((program) => existsSync(join(folder, program))));
  if (found !== undefined) return found;
  throw new Error(
    `No folder of the PATH, and none below ${debian}, has ${needed.join(', ')}: a failover needs them all, and the embedded Postgres comes without the last. On Debian, \`apt install postgresql\` brings them; elsewhere, put a Postgres server's programs on the PATH.`,
  );
}
