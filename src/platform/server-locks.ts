import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, fchownSync, fstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { explainForeignFile } from './server-files.ts';
import type { ServerUser } from './server-user.ts';

/** An open file, whose lock the system gives back when every process that has it open has closed it or ended. */
export type LockFile = number;

/** Node itself cannot lock a file; macOS has no `flock`, but perl. It ends with 75 where another file has the lock. */
const lockProgram =
  process.platform === 'darwin'
    ? `perl -e '$SIG{ALRM} = sub { exit 75 }; alarm $ARGV[0];
  flock(STDIN, ($ARGV[1] eq "x" ? 2 : 1) | ($ARGV[0] ? 0 : 4)) or $!{EWOULDBLOCK} ? exit 75 : die "flock: $!\\n"' "$@"`
    : 'flock -E 75 -w "$1" "-$2" 0';

/**
 * What every script here can call: `lock SECONDS x <&FILE` takes the lock of an open file for this file alone, `s` shares it; with 0
 * seconds now or not at all. The lock is the open file's, so the process that opened it keeps it when the script has ended.
 * A script that cannot even try ends at once: it knows nothing of the other processes, and must not act on them.
 */
const lockFunction = `lock() { ${lockProgram} && return; [ $? = 75 ] || exit 70; return 1; }`;

/** The words after `sh` that run a script with locks. @param parameters `$0` and following */
export function scriptArguments(script: string, ...parameters: readonly string[]): string[] {
  return ['-c', `${lockFunction}\n${script}`, ...parameters];
}

export function openLock(path: string): LockFile {
  // A link could lead root to a file of its own.
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;
  try {
    if (existsSync(path)) return openSync(path, flags);
    const file = openSync(path, flags | constants.O_CREAT, 0o600);
    const { uid, gid } = statSync(dirname(path));
    // The owner of the folder has to be able to lock what a command of root's has made.
    if (process.getuid?.() === 0 && fstatSync(file).nlink === 1) fchownSync(file, uid, gid);
    return file;
  } catch (error) {
    throw explainForeignFile(path, error);
  }
}

/**
 * Runs a script with open files, the first of them as file 3.
 *
 * @returns what it ends with
 * @throws Error when it could not be run, or not try to take a lock
 */
export async function runScript(
  scriptArgs: readonly string[],
  files: readonly LockFile[],
  user: ServerUser = {},
): Promise<number> {
  // In a session of its own: a Ctrl-C is not for it.
  const options = { ...user, cwd: '/', detached: true };
  const child = spawn('/bin/sh', scriptArgs, { ...options, stdio: ['ignore', 'ignore', 'pipe', ...files] });
  let errorOutput = '';
  child.stderr?.on('data', (words) => {
    errorOutput += words;
  });
  const [code] = await once(child, 'close');
  if (typeof code !== 'number' || code >= 64) throw new Error(describeLockFailure(errorOutput));
  return code;
}

/** Whether another process has the lock of this file alone. @throws InputError when that cannot be known */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const file = openSync(path, 'r');
  const { status, stderr } = spawnSync('/bin/sh', scriptArguments('lock 0 s'), {
    stdio: [file, 'ignore', 'pipe'],
  });
  closeSync(file);
  if (status === 0 || status === 1) return status === 1;
  throw new InputError([{ where: path, what: `${describeLockFailure(String(stderr))}.` }]);
}

function describeLockFailure(errorOutput: string): string {
  return `no lock can be taken (${errorOutput.trim() || 'the shell was ended'}). Install the program flock (package util-linux), or set VOLLEY_HOME to a folder whose file system has locks`;
}
