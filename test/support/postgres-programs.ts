import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** What a test needs to make a server and a standby of it. Volley's own Postgres comes without `pg_basebackup`. */
const needed = ['postgres', 'initdb', 'pg_ctl', 'pg_basebackup'];

/** Where Debian and its relatives install Postgres, a folder a version. */
const debian = '/usr/lib/postgresql';

/** The folder of Postgres programs with which servers can be replicated; undefined where this machine has none. */
export function findPostgresPrograms(): string | undefined {
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => +other - +one) : [];
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ];
  return folders.find((folder) => needed.every((program) => existsSync(join(folder, program))));
}
