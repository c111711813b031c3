import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { createOpenFolder, type PostgresBinaries } from './postgres-binaries.ts';
import { dataFolderOf, moveDurably, readText, type ServerFiles, writeDurably } from './server-files.ts';
import { complaintIn, readLogSince, startLogged } from './server-log.ts';
import { canEnter, type ServerUser } from './server-user.ts';

/** The role that Volley works as, which may do what it likes in its database and nothing else; and that database. */
export const roleName = 'volley';
export const databaseName = 'volley';

/** Makes the two, and is used for nothing else. */
export const adminName = 'postgres';

export type DataOptions = {
  readonly files: ServerFiles;
  readonly user: ServerUser;
  readonly binaries: PostgresBinaries;
  /** Where root's data and programs go when the server's user cannot reach ours. */
  readonly systemFolder: string;
  /** False only for a throw-away server: nothing is flushed to disk. */
  readonly durable: boolean;
};

/** The data folder, made by initdb if there is none. To be called under the home's lock. */
export async function ensureData(options: DataOptions): Promise<string> {
  const { files } = options;
  const current = dataFolderOf(files);
  if (existsSync(current)) {
    await removeUnfinished(dirname(current));
    return current;
  }
  if (existsSync(files.dataRecord)) {
    const what = `says that the data is in ${current}, which is gone. Bring that folder back, or delete ${files.dataRecord} to begin with an empty ledger.`;
    throw new InputError([{ where: files.dataRecord, what }]);
  }
  if (canEnter(files.home, options.user)) {
    await createData(options, current);
    return current;
  }
  const elsewhere = join(makeSystemDataFolder(options), 'data');
  await createData(options, elsewhere);
  writeDurably(files.dataRecord, `${elsewhere}\n`);
  return elsewhere;
}

/** A folder of this home's own below the system folder. The data of an earlier home at the same path is not touched. */
function makeSystemDataFolder({ files, user, systemFolder }: DataOptions): string {
  const name = createHash('sha256').update(files.home).digest('hex').slice(0, 12);
  let folder = join(systemFolder, name);
  for (let number = 2; existsSync(join(folder, 'data')); number += 1)
    folder = join(systemFolder, `${name}-${number}`);
  createOpenFolder(systemFolder);
  createOpenFolder(folder);
  writeFileSync(join(folder, 'home'), `${files.home}\n`);
  if (canEnter(folder, user)) return folder;
  const what = `The server's user (${user.uid}) can enter neither ${files.home} nor ${folder}. Set VOLLEY_HOME to a folder it can enter, run volley as another user than root, or set DATABASE_URL.`;
  throw new InputError([{ where: 'embedded Postgres', what }]);
}

/** Made beside its place and renamed when whole, so that an initdb killed half-way leaves nothing that looks like data. */
async function createData(options: DataOptions, data: string): Promise<void> {
  const { files, user } = options;
  await removeUnfinished(dirname(data));
  const unfinished = join(dirname(data), `unfinished-${randomBytes(4).toString('hex')}`);
  const passwordFile = join(unfinished, 'password');
  const password = newPassword();
  try {
    mkdirSync(unfinished, { mode: 0o700 });
    writeFileSync(passwordFile, password, { mode: 0o600 });
    for (const path of [passwordFile, unfinished]) {
      if (user.uid !== undefined && user.gid !== undefined) chownSync(path, user.uid, user.gid);
    }
    await runInitdb(options, join(unfinished, 'data'), passwordFile);
    writeDurably(files.adminPassword, password);
    writeDurably(files.password, newPassword());
    moveDurably(join(unfinished, 'data'), data);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** Of characters that mean nothing to SQL. */
function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

async function runInitdb(options: DataOptions, data: string, passwordFile: string): Promise<void> {
  const { files, user, binaries, durable } = options;
  const words = [
    `--pgdata=${data}`,
    `--username=${adminName}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The builtin provider knows Unicode without any locale of the system, and sorts the same on every machine.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(durable ? [] : ['--no-sync']),
  ];
  const { child, logStart } = startLogged(files.log, binaries.initdb, words, { user, detached: false });
  const [status] = await once(child, 'exit');
  if (status === 0) return;
  const complaint = complaintIn(readLogSince(files.log, logStart));
  const advice = /shared librar/.test(complaint)
    ? ' (if npm skipped install scripts, `npm rebuild` completes it)'
    : '';
  throw new Error(`initdb failed: ${complaint}${advice}`);
}

async function removeUnfinished(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('unfinished-')) continue;
    // The initdb of a killed command may still write there, or be removing it too: rmSync stops half-way then.
    await rm(join(folder, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

/** The password of Volley's role, or that of the superuser, which initdb was given. */
export function readPassword(
  files: ServerFiles,
  of: keyof Pick<ServerFiles, 'password' | 'adminPassword'>,
): string {
  const password = readText(files[of]);
  if (password !== undefined) return password;
  const what = `is missing, and without it nobody can log in to the server. Bring it back, or delete ${dataFolderOf(files)} to begin with an empty ledger.`;
  throw new InputError([{ where: files[of], what }]);
}
