import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
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
import { hasCode } from '../../src/platform/file-error.ts';
import { canEnter, chooseServerUser } from '../../src/platform/server-user.ts';

/** A new folder that the server's user can enter. */
export function makeHome(prefix: string, mode = 0o711, folder = tmpdir()): string {
  const home = mkdtempSync(join(folder, prefix));
  chmodSync(home, mode);
  return home;
}

/** Bytes that must be free in Linux's folder in memory. */
const memory = '/dev/shm';
const memoryNeeded = 2 * 1024 ** 3;

/**
 * Falls back to the folder for temporary files, also if programs in memory may not be started. On ext4, creating and
 * deleting many databases takes three times the processor time, because it searches for new files' blocks among those
 * of deleted ones.
 */
export function folderInMemory(): string {
  if (!existsSync(memory) || isMountedNoexec(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= memoryNeeded ? memory : tmpdir();
}

function isMountedNoexec(folder: string): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const [, , , options = ''] = mounts.findLast(([, point]) => point === folder) ?? [];
  return options.split(',').includes('noexec');
}

/** Faster, but data is lost on a power failure. */
export const throwAwayOptions: EmbeddedServerOptions = { disposable: true };

/**
 * Copies a stopped server's data into a new or empty home, in a tenth of the time of initdb. Does nothing if there
 * is no data, or the server's user cannot enter the home.
 */
export function copyHome(origin: string | undefined, home: string): void {
  if (origin === undefined || !existsSync(join(origin, 'data'))) return;
  mkdirSync(home, { recursive: true });
  chmodSync(home, 0o711);
  if (!canEnter(home, chooseServerUser(join(origin, 'data')))) return;
  // Node's own copy does not keep the owners.
  execFileSync('cp', ['-a', join(origin, 'data'), home]);
}

/** SIGQUIT: at once, as in a crash. */
export async function endServer(home: string, signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
  const before = embeddedServerStatus(home);
  if (before.state === 'stopped') return;
  try {
    process.kill(before.pid, signal);
  } catch (error) {
    // It has ended by itself since.
    if (!hasCode(error, 'ESRCH')) throw error;
  }
  while (embeddedServerStatus(home).state === 'running') await sleep(20);
}

export async function removeHome(home: string): Promise<void> {
  await endServer(home, 'SIGQUIT');
  deleteHome(home);
}

/** Removes homes of killed test runs: those without a server for a minute. */
export async function removeAbandonedHomes(prefix: string, folder: string): Promise<void> {
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith(prefix))) {
    const home = join(folder, name);
    try {
      // A new home has no server yet.
      const isNew = Date.now() - statSync(home).mtimeMs < 60_000;
      if ((await stopEmbeddedServer(home)) || !isNew) deleteHome(home);
    } catch {
      // In use, another user's, or its own run is just removing it.
    }
  }
}

export function deleteHome(path: string): void {
  const { home, dataFolder } = embeddedServerStatus(path);
  // Root keeps the data elsewhere if the server's user cannot enter the folder for temporary files.
  if (dirname(dataFolder) !== home) rmSync(dataFolder, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true, maxRetries: 20 });
}
