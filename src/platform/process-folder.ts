import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessRunning, ownProcessToken } from './process-identity.ts';

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
