import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, fchownSync, fstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { explainForeignFile } from './server-files.ts';
import type { ServerUser } from './server-user.ts';

/** An open file. The system frees its lock when every process that has it open closed it or ended. */
export type LockFile = number;

/**
 * Node cannot lock files; macOS has perl instead of `flock`. Ends with 75 if another process holds the lock.
 */
const lockProgram =
  process.platform === 'darwin'
    ? `perl -e '$SIG{ALRM} = sub { exit 75 }; alarm $ARGV[0];
  flock(STDIN, ($ARGV[1] eq "x" ? 2 : 1) | ($ARGV[0] ? 0 : 4)) or $!{EWOULDBLOCK} ? exit 75 : die "flock: $!\\n"' "$@"`
    : 'flock -E 75 -w "$1" "-$2" 0';

/**
 * `lock SECONDS x <&FILE` locks an open file exclusively, `s` shares it; 0 seconds: without waiting. The lock
 * belongs to the open file, so the opening process keeps it. A script that cannot lock ends at once: it must
 * not act on processes it knows nothing about.
 */
const lockFunction = `lock() { ${lockProgram} && return; [ $? = 75 ] || exit 70; return 1; }`;

/**
 * Arguments for `sh` that run a script with `lock`.
 * @param parameters `$0` and following
 */
export function scriptArguments(script: string, ...parameters: readonly string[]): string[] {
  return ['-c', `${lockFunction}\n${script}`, ...parameters];
}

export function openLock(path: string): LockFile {
  // A link could lead root to one of its own files.
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW;
  try {
    if (existsSync(path)) return openSync(path, flags);
    const file = openSync(path, flags | constants.O_CREAT, 0o600);
    const { uid, gid } = statSync(dirname(path));
    // The folder's owner must be able to lock a file that root created.
    if (process.getuid?.() === 0 && fstatSync(file).nlink === 1) fchownSync(file, uid, gid);
    return file;
  } catch (error) {
    throw explainForeignFile(path, error);
  }
}

/**
 * Runs a script with open files, beginning at file 3.
 *
 * @returns its exit code
 * @throws Error if the script could not run, or could not lock
 */
export async function runScript(
  scriptArgs: readonly string[],
  files: readonly LockFile[],
  user: ServerUser = {},
): Promise<number> {
  // Its own session, so Ctrl-C does not reach it.
  const options = { ...user, cwd: '/', detached: true };
  const child = spawn('/bin/sh', scriptArgs, { ...options, stdio: ['ignore', 'ignore', 'pipe', ...files] });
  let errorOutput = '';
  child.stderr?.on('data', (data) => {
    errorOutput += data;
  });
  const [code] = await once(child, 'close');
  if (typeof code !== 'number' || code >= 64) throw new Error(describeLockFailure(errorOutput));
  return code;
}

/**
 * Whether another process holds the lock exclusively.
 * @throws InputError if locks do not work
 */
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
  return `files cannot be locked (${errorOutput.trim() || 'the shell was ended'}). Install the program flock (package util-linux), or set VOLLEY_HOME to a folder on a file system with locks`;
}
