import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { InputError } from '../domain/problems.ts';

/** The user that the server runs as; empty: that of the command. It goes into `spawn` as it is. */
export type ServerUser = { readonly uid?: number; readonly gid?: number };

/**
 * Postgres refuses to run as root, so root runs it as the owner of the data if there is any, else as `postgres` or
 * `nobody`. initdb looks its user up in /etc/passwd, so only a user who stands there will do.
 */
export function chooseServerUser(dataFolder: string): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const data = statSync(dataFolder, { throwIfNoEntry: false });
  if (data !== undefined) return { uid: data.uid, gid: data.gid };
  const accounts = readFileSync('/etc/passwd', 'utf8');
  for (const name of ['postgres', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(accounts) ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  const what =
    'Postgres does not run as root, and /etc/passwd has neither a user postgres nor nobody. Add one, run volley as another user, or set DATABASE_URL.';
  throw new InputError([{ where: 'embedded Postgres', what }]);
}

/** Whether the server's user can go into a folder. Tried rather than reckoned, for modes are not the only rule. */
export function canEnter(folder: string, user: ServerUser): boolean {
  return canRun(user, '/bin/sh', '-c', 'cd -- "$1"', 'sh', folder);
}

/** Whether the server's user can run a program, with all its libraries. */
export function canRun(user: ServerUser, program: string, ...words: readonly string[]): boolean {
  return spawnSync(program, words, { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}
