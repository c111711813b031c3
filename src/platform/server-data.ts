import { createHash, randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { createOpenFolder, type PostgresBinaries } from './postgres-binaries.ts';
import { dataFolderOf, moveDurably, readText, type ServerFiles, writeDurably } from './server-files.ts';
import { runLogged } from './server-program.ts';
import { canEnter, type ServerUser } from './server-user.ts';
import type { Steps } from './steps.ts';

/** The role that Volley works as, which may do what it likes in its database and nothing else; and that database. */
const roleName = 'volley';
const databaseName = 'volley';

/** What programs of Postgres are started with. */
export type ServerSetting = {
  readonly log: string;
  readonly user: ServerUser;
  readonly binaries: PostgresBinaries;
  /** False only for a throw-away server: nothing is flushed to disk. */
  readonly durable: boolean;
};

const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  // Several commands, each with a pool.
  'max_connections=200',
  'timezone=UTC',
  'log_timezone=UTC',
  'log_checkpoints=off',
  // Without these, the log would hold statements and rows, and in them the addresses of people.
  'log_error_verbosity=terse',
  'log_min_error_statement=panic',
];
const throwAwaySettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

export function settingWords({ durable }: ServerSetting): readonly string[] {
  return [...settings, ...(durable ? [] : throwAwaySettings)].flatMap((setting) => ['-c', setting]);
}

/**
 * The data folder, made if there is none. To be called with the lock.
 *
 * @param systemFolder where root's data goes when the server's user cannot reach the home
 */
export function* ensureData(setting: ServerSetting, files: ServerFiles, systemFolder: string): Steps<string> {
  const current = dataFolderOf(files);
  if (existsSync(current)) {
    yield* removeUnfinished(dirname(current));
    return current;
  }
  if (existsSync(files.dataRecord)) {
    const what = `says that the data is in ${current}, which is gone. Bring that folder back, or delete ${files.dataRecord} to begin with an empty ledger.`;
    throw new InputError([{ where: files.dataRecord, what }]);
  }
  const isHere = canEnter(files.home, setting.user);
  const data = isHere ? current : join(makeSystemDataFolder(files.home, setting.user, systemFolder), 'data');
  yield* createData(setting, files, data);
  if (!isHere) writeDurably(files.dataRecord, `${data}\n`);
  return data;
}

/** A folder of this home's own below the system folder. The data of an earlier home at the same path is not touched. */
function makeSystemDataFolder(home: string, user: ServerUser, systemFolder: string): string {
  const name = createHash('sha256').update(home).digest('hex').slice(0, 12);
  let folder = join(systemFolder, name);
  for (let number = 2; existsSync(join(folder, 'data')); number += 1)
    folder = join(systemFolder, `${name}-${number}`);
  createOpenFolder(systemFolder);
  createOpenFolder(folder);
  writeFileSync(join(folder, 'home'), `${home}\n`);
  if (canEnter(folder, user)) return folder;
  const what = `The server's user (${user.uid}) can enter neither ${home} nor ${folder}. Set VOLLEY_HOME to a folder it can enter, run volley as another user than root, or set DATABASE_URL.`;
  throw new InputError([{ where: 'embedded Postgres', what }]);
}

/** Made beside its place, with role and database, and renamed when whole: a killed command leaves nothing that looks like data. */
function* createData(setting: ServerSetting, files: ServerFiles, data: string): Steps<void> {
  const { user, binaries, durable } = setting;
  yield* removeUnfinished(dirname(data));
  const unfinished = join(dirname(data), `unfinished-${randomBytes(4).toString('hex')}`);
  const made = join(unfinished, 'data');
  const passwordFile = join(unfinished, 'password');
  // Of characters that mean nothing to SQL.
  const newPassword = (): string => randomBytes(24).toString('base64url');
  const [adminPassword, password] = [newPassword(), newPassword()];
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    writeFileSync(passwordFile, adminPassword, { mode: 0o600 });
    for (const path of [passwordFile, unfinished]) {
      if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid);
    }
    const initdb = [...initdbWords, `--pgdata=${made}`, `--pwfile=${passwordFile}`];
    yield* runLogged({
      ...setting,
      program: binaries.initdb,
      words: durable ? initdb : [...initdb, '--no-sync'],
    });
    // By Postgres itself without a server, to which nothing can connect.
    const words = ['--single', '-D', made, '-c', 'exit_on_error=on', ...settingWords(setting), 'postgres'];
    const input = `CREATE ROLE ${roleName} LOGIN PASSWORD '${password}'\nCREATE DATABASE ${databaseName} OWNER ${roleName}\n`;
    yield* runLogged({ ...setting, program: binaries.postgres, words, input });
    writeDurably(files.adminPassword, adminPassword);
    writeDurably(files.password, password);
    moveDurably(made, data);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

const initdbWords = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // The builtin provider knows Unicode without any locale of the system, and sorts the same on every machine.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

function* removeUnfinished(folder: string): Steps<void> {
  for (const name of readdirSync(folder).filter((name) => name.startsWith('unfinished-'))) {
    for (let tries = 10; existsSync(join(folder, name)); tries -= 1) {
      try {
        rmSync(join(folder, name), { recursive: true, force: true });
      } catch (error) {
        // The initdb of a killed command may still write there.
        if (tries === 0) throw error;
        yield 100;
      }
    }
  }
}

/** How Volley logs in. @throws InputError when the password is missing */
export function readLogin(files: ServerFiles): { user: string; password: string; database: string } {
  const password = readText(files.password);
  if (password !== undefined) return { user: roleName, password, database: databaseName };
  const what = `is missing, and without it nobody can log in to the server. Bring it back, or delete ${dataFolderOf(files)} to begin with an empty ledger.`;
  throw new InputError([{ where: files.password, what }]);
}
