import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './file-error.ts';
import { isAlive, ownProcessToken, processNumber } from './process-identity.ts';
import { explainForeignFile } from './server-files.ts';
import type { Steps } from './steps.ts';

/**
 * A process's word that it uses the server: a folder in `leases/` that holds one file of the same name, which begins with
 * the process's token. Moved to `leases/lock`, the lease is the lock: the system puts a folder in place of an empty one,
 * and refuses where there is a file in it. The file of a dead holder is removed by its name, so a slow process cannot
 * remove the lock of the next holder.
 */
export type Lease = string;

/** Longer than the longest thing done with the lock: a start that first recovers from a crash (milliseconds). */
const longestWait = 150_000;
const longestWaitAtExit = 10_000;
const pollInterval = 20;

/** Adds a lease of this process, which may have several, and removes those of dead processes. */
export function addLease(leases: string): Lease {
  for (const name of namesIn(leases)) if (!isHeld(name)) dropLease(leases, name);
  const own = `${ownProcessToken()}-${randomBytes(4).toString('hex')}`;
  try {
    makeLease(leases, own);
    return own;
  } catch (error) {
    dropLease(leases, own);
    throw explainForeignFile(leases, error);
  }
}

/** Gives a lease up, and the lock if the lease is it. */
export function dropLease(leases: string, lease: Lease): void {
  rmSync(join(leases, 'lock', lease), { force: true });
  rmSync(join(leases, lease), { recursive: true, force: true });
}

/** The numbers of the living processes that hold leases, one for each lease but `own`. */
export function leaseHolders(leases: string, own?: Lease): readonly number[] {
  const names = [...namesIn(leases), ...namesIn(join(leases, 'lock'))];
  return names.filter((name) => name !== own && isHeld(name)).map(processNumber);
}

/**
 * Waits until this lease is the lock.
 *
 * @param atExit whether the process is ending: what it was doing with the lock will never go on
 * @throws Error when a living process does not give it back
 */
export function* takeLock(leases: string, own: Lease, atExit = false): Steps<void> {
  const lock = join(leases, 'lock');
  const deadline = Date.now() + (atExit ? longestWaitAtExit : longestWait);
  while (!tryLock(leases, lock, own)) {
    const [holder = ''] = namesIn(lock);
    if (atExit && holder === own) return;
    if (Date.now() > deadline)
      throw new Error(
        `Process ${processNumber(holder)} has held ${leases} for too long. End that process and try again.`,
      );
    yield pollInterval;
  }
}

/** Makes the lock a mere lease again. */
export function giveBackLock(leases: string, own: Lease): void {
  renameSync(join(leases, 'lock'), join(leases, own));
}

function tryLock(leases: string, lock: string, own: Lease): boolean {
  const holders = namesIn(lock);
  for (const dead of holders.filter((name) => !isHeld(name))) rmSync(join(lock, dead), { force: true });
  if (holders.some(isHeld)) return false;
  try {
    renameSync(join(leases, own), lock);
    return true;
  } catch (error) {
    // To another container, with process numbers of its own, ours may look like that of a dead process.
    if (hasCode(error, 'ENOENT')) makeLease(leases, own);
    else if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error;
    return false;
  }
}

function makeLease(leases: string, lease: Lease): void {
  const folder = join(leases, lease);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, lease), '');
  const { uid, gid } = statSync(leases);
  // The owner of the home has to be able to remove what a killed command of root's leaves.
  if (process.getuid?.() === 0) chownSync(folder, uid, gid);
}

function isHeld(name: string): boolean {
  return isAlive(name.slice(0, name.lastIndexOf('-')));
}

function namesIn(folder: string): readonly Lease[] {
  try {
    return readdirSync(folder).filter((name) => name !== 'lock');
  } catch (error) {
    // A home that is a file has no folder of leases; who makes the home says so.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw explainForeignFile(folder, error);
  }
}
