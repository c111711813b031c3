import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { moveDurably, readText, type ServerFiles, writeDurably } from './server-files.ts';
import { scriptWords } from './server-locks.ts';
import { type ProgramCall, runLogged } from './server-process.ts';
import { canEnter, openSystemFolder, type PostgresPrograms } from './server-user.ts';

/** The role that Volley works as, which may do what it likes in its database of the same name and nothing else. */
const role = 'volley';

/** What a server is started with. Without the last two, the log would hold statements and rows, and in them the addresses of people. */
export const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  // Several commands, each with a pool.
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  'log_error_verbosity=terse',
  'log_min_error_statement=panic',
].flatMap((setting) => ['-c', setting]);

const initdbWords = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // The builtin provider knows Unicode without any locale of the system, and sorts the same on every machine.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/** Role and database are made by Postgres itself without a server, to which nothing can connect. */
const makeScript = `
postgres=$1 data=$2
shift 2
"$@" && exec "$postgres" --single -D "$data" -c exit_on_error=on postgres`;

/**
 * Where data are made: in the home if the server's user can enter it, else in a new folder below the system folder, to which the
 * home has a link then.
 */
export function placeForData(
  { home, data }: ServerFiles,
  user: ProgramCall['user'],
  systemFolder: string,
): string {
  if (canEnter(home, user)) return data;
  openSystemFolder(systemFolder);
  const folder = mkdtempSync(join(systemFolder, 'data-'));
  chmodSync(folder, 0o755);
  return join(folder, 'data');
}
/**
 * Makes the data if there are none, beside their place, with role and database, and renames them when they are whole: a killed command leaves nothing
 * that looks like data. To be called with the lock of the data.
 */
export async function makeData(
  call: Omit<ProgramCall, 'words'>,
  { initdb, postgres }: PostgresPrograms,
  files: ServerFiles,
  data: string,
): Promise<void> {
  const unfinished = join(dirname(data), 'unfinished');
  rmSync(unfinished, { recursive: true, force: true });
  if (existsSync(data)) return;
  const [made, passwordFile] = [join(unfinished, 'data'), join(unfinished, 'password')];
  // Of characters that mean nothing to SQL.
  const newPassword = (): string => randomBytes(24).toString('base64url');
  const [adminPassword, password] = [newPassword(), newPassword()];
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    writeFileSync(passwordFile, adminPassword, { mode: 0o600 });
    const { uid, gid } = call.user;
    if (uid !== undefined && gid !== undefined)
      for (const path of [passwordFile, unfinished]) chownSync(path, uid, gid);
    const input = `CREATE ROLE ${role} LOGIN PASSWORD '${password}'\nCREATE DATABASE ${role} OWNER ${role}\n`;
    const initdbCall = [initdb, ...initdbWords, `--pgdata=${made}`, `--pwfile=${passwordFile}`];
    await runLogged({ ...call, words: scriptWords(makeScript, 'sh', postgres, made, ...initdbCall), input });
    writeDurably(files.adminPassword, adminPassword);
    writeDurably(files.password, password);
    moveDurably(made, data);
    if (data !== files.data) symlinkSync(data, files.data);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** How Volley logs in. @throws InputError when the password is missing */
export function readLogin(files: ServerFiles): { user: string; password: string; database: string } {
  const password = readText(files.password);
  if (password !== undefined) return { user: role, password, database: role };
  const what = `is missing, and without it nobody can log in to the server. Bring it back, or delete ${files.data} to begin with an empty ledger.`;
  throw new InputError([{ where: files.password, what }]);
}
