import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** For servers, standbys and backups. The embedded Postgres lacks the last three. */
const needed = ['postgres', 'initdb', 'pg_ctl', 'pg_basebackup', 'pg_dump', 'pg_restore'];

/** Debian's folder, with a subfolder per version. */
const debian = '/usr/lib/postgresql';

/**
 * Finds a folder with these programs: the first on the PATH, or else Debian's newest.
 *
 * @throws Error if there is none
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
