import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { InputError } from '../domain/problems.ts';

/** Whom the server runs as. Empty means the user who runs the command; it goes into `spawn` as it is. */
export type ServerUser = { readonly uid?: number; readonly gid?: number };

/**
 * Postgres refuses to run as root, so root runs it as somebody else: the owner of the data if there is any, else
 * `postgres` or `nobody`. initdb looks its user up in /etc/passwd, so only a user who stands there will do.
 */
export function chooseServerUser(dataFolder: string): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const data = statSync(dataFolder, { throwIfNoEntry: false });
  if (data !== undefined) return { uid: data.uid, gid: data.gid };
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const account =
    accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  const [uid, gid] = [Number(account?.[2]), Number(account?.[3])];
  if (account !== undefined && uid > 0 && Number.isInteger(gid)) return { uid, gid };
  const what =
    'Postgres does not run as root, and /etc/passwd has neither a user postgres nor nobody. Add one, run volley as another user, or set DATABASE_URL.';
  throw new InputError([{ where: 'embedded Postgres', what }]);
}

/** Whether the server's user can go into a folder. Tried rather than reckoned, for modes are not the only rule. */
export function canEnter(folder: string, user: ServerUser): boolean {
  const attempt = spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
  });
  return attempt.status === 0;
}

/** Whether the server's user can run a program, with all its libraries. */
export function canRun(program: string, user: ServerUser): boolean {
  return spawnSync(program, ['--version'], { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}
