import { readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from './file-error.ts';
import { isAlive, ownProcessToken, type ProcessToken, processNumber } from './process-identity.ts';
import { explainForeignFile } from './server-files.ts';

/** Longer than the longest thing done under the lock: a start that first recovers from a crash. */
const longestWait = 150_000;
const longestWaitAtExit = 10_000;
const pollInterval = 20;

/**
 * Does something while this process, and in it this call, alone holds the lock. The lock is a symbolic link whose
 * target is the holder's token: made exclusively and together with its content, so it is never seen half written.
 * The lock of a process that died is broken. Fails with a sentence when a living process does not let go.
 */
export async function withLock<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + longestWait;
  for (let holder = tryLock(path); holder !== undefined; holder = tryLock(path)) {
    if (Date.now() > deadline) throw new Error(stuckLockMessage(path, holder));
    await sleep(pollInterval);
  }
  try {
    return await action();
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * The same without returning to the event loop, for a process that is ending. A lock this process holds itself is
 * taken over, for whatever was being done under it will never go on.
 */
export function withLockAtExit(path: string, action: () => void): void {
  const deadline = Date.now() + longestWaitAtExit;
  for (let holder = tryLock(path); holder !== undefined; holder = tryLock(path)) {
    if (holder === ownProcessToken()) break;
    if (Date.now() > deadline) throw new Error(stuckLockMessage(path, holder));
    sleepWithoutEventLoop(pollInterval);
  }
  try {
    action();
  } finally {
    rmSync(path, { force: true });
  }
}

/** Stops the whole thread for some milliseconds. */
export function sleepWithoutEventLoop(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Takes the lock, or says who has it. */
function tryLock(path: string): ProcessToken | undefined {
  const own = ownProcessToken();
  if (tryLink(own, path)) return undefined;
  const holder = holderOf(path);
  if (holder === undefined) return tryLock(path);
  if (!isAlive(holder)) breakLock(path, holder);
  return holder;
}

/**
 * Two processes may find the same dead holder, and the slower must not remove the lock the faster has taken since:
 * so breaking has a lock of its own, under which the holder is read again. It is held for microseconds only.
 */
function breakLock(path: string, deadHolder: ProcessToken): void {
  const breaking = `${path}.breaking`;
  if (!tryLink(ownProcessToken(), breaking)) {
    const breaker = holderOf(breaking);
    if (breaker !== undefined && !isAlive(breaker)) rmSync(breaking, { force: true });
    return;
  }
  try {
    if (holderOf(path) === deadHolder) rmSync(path, { force: true });
  } finally {
    rmSync(breaking, { force: true });
  }
}

function tryLink(target: string, path: string): boolean {
  try {
    symlinkSync(target, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw explainForeignFile(path, error);
  }
}

function holderOf(path: string): ProcessToken | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function stuckLockMessage(path: string, holder: ProcessToken): string {
  return `Process ${processNumber(holder)} has held ${path} for too long. End that process and try again.`;
}
