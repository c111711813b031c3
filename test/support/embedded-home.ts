import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EmbeddedServerOptions,
  embeddedServerStatus,
  stopEmbeddedServer,
} from '../../src/platform/embedded-postgres.ts';
import { canEnter, chooseServerUser } from '../../src/platform/server-user.ts';

/** A fresh folder for the state of one embedded server, which the server's user can pass through. */
export function makeHome(prefix: string, mode = 0o711, folder = tmpdir()): string {
  const home = mkdtempSync(join(folder, prefix));
  chmodSync(home, mode);
  return home;
}

/** Linux's folder in memory, and what has to be free there (bytes). */
const memory = '/dev/shm';
const memoryNeeded = 2 * 1024 ** 3;

/**
 * For the many databases that a test run makes and deletes again; that of temporary files where memory has no room. On ext4 that
 * takes three times the processor time, as it looks for a new file's place among those of files that were just deleted.
 */
export function folderInMemory(): string {
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= memoryNeeded ? memory : tmpdir();
}

/** For servers whose data nobody will miss: faster, and lost with the power. */
export const throwAwayOptions: EmbeddedServerOptions = {
  postgresOptions: ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'],
};

/**
 * Gives a home that is not there yet, or empty, the data of one whose server is stopped, which takes a tenth of the time of
 * initdb. Does nothing where there are none, or the server's user cannot enter the home: initdb makes them then.
 *
 * @param origin undefined: none
 */
export function copyHome(origin: string | undefined, home: string): void {
  if (origin === undefined || !existsSync(join(origin, 'data'))) return;
  mkdirSync(home, { recursive: true });
  chmodSync(home, 0o711);
  if (!canEnter(home, chooseServerUser(join(origin, 'data')))) return;
  // With its owners, which Node's own copy leaves out.
  execFileSync('cp', ['-a', join(origin, 'data'), home]);
}

/** Stops the server of a home, whatever uses it. SIGQUIT: at once, as in a crash. */
export async function endServer(home: string, signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
  const before = embeddedServerStatus(home);
  if (before.state === 'stopped') return;
  process.kill(before.pid, signal);
  while (embeddedServerStatus(home).state === 'running') await sleep(20);
}

/** Stops the server of a home, whatever uses it, and deletes all of it. */
export async function removeHome(home: string): Promise<void> {
  await endServer(home, 'SIGQUIT');
  deleteHome(home);
}

/** Removes what killed test runs left: homes that have been without a server for a minute. */
export async function removeAbandonedHomes(prefix: string, folder: string): Promise<void> {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(prefix))) {
    const home = join(folder, name);
    try {
      // One that has just been made has no server yet.
      const isNew = Date.now() - statSync(home).mtimeMs < 60_000;
      if ((await stopEmbeddedServer(home)) || !isNew) deleteHome(home);
    } catch {
      // In use, another user's, or its own run is just removing it.
    }
  }
}

/** Deletes a home whose server has been stopped. */
export function deleteHome(path: string): void {
  const { home, dataFolder } = embeddedServerStatus(path);
  // Root has to keep the data elsewhere if the folder for temporary files is closed to the server's user.
  if (dirname(dataFolder) !== home) rmSync(dataFolder, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true, maxRetries: 20 });
}
