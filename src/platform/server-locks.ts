import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, fchownSync, fstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { explainForeignFile } from './server-files.ts';

/** An open file, whose lock the system gives back when every process that has it open has closed it or ended. */
export type LockFile = number;

/**
 * What every script here can call: `lock SECONDS x <&FILE` takes the lock of an open file for this file alone, `s` shares it; with 0
 * seconds now or not at all. The lock is the open file's, so the process that opened it keeps it when the script has ended.
 * Node itself cannot lock a file; macOS has no `flock`, but perl.
 */
const lock =
  process.platform === 'darwin'
    ? `lock() { perl -e 'alarm $ARGV[0]; exit !flock(STDIN, ($ARGV[1] eq "x" ? 2 : 1) | ($ARGV[0] ? 0 : 4))' "$@"; }`
    : 'lock() { flock -w "$1" "-$2" 0; }';

/** The words after `sh` that run a script with locks. @param words `$0` and following */
export function scriptWords(script: string, ...words: readonly string[]): string[] {
  return ['-c', `${lock}\n${script}`, ...words];
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

/** Runs a script with open files, the first of them as file 3. @returns what it ends with; null: it was killed */
export async function runScript(
  words: readonly string[],
  files: readonly LockFile[],
): Promise<number | null> {
  // In a session of its own: a Ctrl-C is not for it.
  const child = spawn('/bin/sh', words, { stdio: ['ignore', 'ignore', 'ignore', ...files], detached: true });
  const [code] = await once(child, 'exit');
  if (code === 127) throw new Error('the program flock is missing; it is in the package util-linux');
  if (code === 65) throw new Error('the file system of the home has no locks (flock)');
  return code;
}

/** Whether another process has the lock of this file alone. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const file = openSync(path, 'r');
  const { status } = spawnSync('/bin/sh', scriptWords('lock 0 s'), { stdio: [file, 'ignore', 'ignore'] });
  closeSync(file);
  return status === 1;
}
