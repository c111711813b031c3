import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasCode } from './file-error.ts';

/**
 * `pid.start`, with the start in clock ticks since boot, or `pid` on systems without /proc. Differs if the
 * number is reused. Safe in file names.
 */
type ProcessToken = string;

export function ownProcessToken(): ProcessToken {
  return readProcEntry(process.pid)?.token ?? String(process.pid);
}

/** A zombie counts as ended: a container without an init never removes zombies. */
export function isProcessRunning(token: ProcessToken): boolean {
  const pid = Number.parseInt(token, 10);
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  const entry = readProcEntry(pid);
  return entry === undefined ? processExists(pid) : entry.living && entry.token === token;
}

function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

function readProcEntry(pid: number): { token: ProcessToken; living: boolean } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // proc(5): `pid (name) state …`. The name may contain blanks and brackets. The start is field 22.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { token: `${pid}.${fields[19]}`, living: fields[0] !== 'Z' && fields[0] !== 'X' };
  } catch {
    return undefined;
  }
}

/**
 * Makes a folder for the files of this process, which only this user can read. Its name says the process, so that
 * another one can remove it after a kill.
 *
 * @param purpose letters and `-`
 */
export function makeProcessFolder(purpose: string): string {
  return mkdtempSync(join(tmpdir(), `${purpose}-${ownProcessToken()}-`));
}

/**
 * Removes the folders that killed processes of this user left. The name of a folder proves nothing to a process in
 * another container, so containers must not share a temporary folder.
 */
export function removeLeftFolders(purpose: string): void {
  // Without a temporary folder, nothing was left in it.
  for (const name of existsSync(tmpdir()) ? readdirSync(tmpdir()) : []) {
    const [, token] = name.startsWith(`${purpose}-`) ? (/-(\d+(?:\.\d+)?)-\w{6}$/.exec(name) ?? []) : [];
    if (token === undefined || isProcessRunning(token)) continue;
    const path = join(tmpdir(), name);
    try {
      const found = lstatSync(path);
      if (found.isDirectory() && found.uid === process.getuid?.())
        rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process removes it at the same time.
    }
  }
}
