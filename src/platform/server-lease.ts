import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './file-error.ts';
import { isAlive, ownProcessToken, processNumber } from './process-identity.ts';
import { explainForeignFile, type ServerFiles } from './server-files.ts';

/** A process's word that it uses the server: an empty file whose name holds the process's token. */
export type LeaseFile = string;

/** Records a lease of this process, which may have several. To be called under the home's lock, as all here. */
export function addLease(files: ServerFiles): LeaseFile {
  const lease = join(files.leases, `${ownProcessToken()}-${randomBytes(4).toString('hex')}`);
  writeFileSync(lease, '', { mode: 0o600 });
  return lease;
}

/** Gives a lease up. */
export function dropLease(lease: LeaseFile): void {
  rmSync(lease, { force: true });
}

/** The numbers of the processes that hold leases, one for each lease; those that died without a word do not count. */
export function leaseHolders(files: ServerFiles): readonly number[] {
  return listLeases(files).filter(isHeld).map(processNumber);
}

/** Removes what dead processes left behind. */
export function dropDeadLeases(files: ServerFiles): void {
  for (const name of listLeases(files)) if (!isHeld(name)) dropLease(join(files.leases, name));
}

function isHeld(name: string): boolean {
  return isAlive(name.slice(0, name.lastIndexOf('-')));
}

function listLeases(files: ServerFiles): readonly string[] {
  try {
    return readdirSync(files.leases);
  } catch (error) {
    // A home that is a file has no folder of leases; who makes the home says so.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return [];
    throw explainForeignFile(files.leases, error);
  }
}
