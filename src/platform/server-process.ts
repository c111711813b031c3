import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { answersSignals, commandLine } from './process-identity.ts';
import { type ServerSetting, settingWords } from './server-data.ts';
import { readText } from './server-files.ts';
import { isRunning, type LoggedProgram, startLogged } from './server-program.ts';
import type { Steps } from './steps.ts';

/** A server that is there, as its own postmaster.pid describes it. */
export type ServerProcess = { readonly pid: number; readonly port: number; readonly isReady: boolean };

/** A start after a crash replays at most 1 GB of write-ahead log, some 20 s on a slow disk (milliseconds). */
const longestStart = 120_000;
/** It writes what it has in memory to disk first, which is at most some hundred megabytes. */
const longestStop = { SIGINT: 60_000, SIGQUIT: 10_000 };
const pollInterval = 10;

/**
 * Sessions of a killed server hold its memory until they notice; and a server that a killed command had just spawned
 * may only now write its postmaster.pid.
 */
const passingTrouble = /shared memory block|lock file .* already exists/;

/** The server of a data folder; undefined when there is none, though a crash may have left its postmaster.pid. */
export function findServer(data: string): ServerProcess | undefined {
  const [pid, , , port, , , , state] = readText(pidFile(data))?.split('\n') ?? [];
  if (!isServerOf(Number(pid), data)) return undefined;
  return { pid: Number(pid), port: Number(port), isReady: state?.trim() === 'ready' };
}

/**
 * Waits until the server of a data folder is ready: the one that runs, or one started now, which runs on when this process
 * ends. To be called with the lock.
 *
 * @param onlyPort where its users have an address already
 * @returns its port
 * @throws Error when there is no server, or none at that port
 */
export function* startServer(setting: ServerSetting, data: string, onlyPort?: number): Steps<number> {
  let port = onlyPort ?? usualPort(data);
  let started: LoggedProgram | undefined;
  for (const deadline = Date.now() + longestStart; Date.now() < deadline; yield pollInterval) {
    const server = findServer(data);
    if (server?.isReady && server.port === (onlyPort ?? server.port)) return server.port;
    if (server?.isReady)
      throw new Error(`it runs at port ${server.port} by now, and this command knows it at ${onlyPort}`);
    // One that stops has to be gone first.
    if (server !== undefined || (started !== undefined && isRunning(started.child))) continue;
    if (started !== undefined) {
      const complaint = started.complaint();
      const isPortTaken = /could not (bind|create any TCP)/.test(complaint);
      if (isPortTaken && onlyPort !== undefined)
        throw new Error(`another program has taken its port, ${onlyPort}`);
      if (isPortTaken) port += 1;
      else if (passingTrouble.test(complaint)) yield 100;
      else throw new Error(complaint);
    }
    removeMisleadingPidFile(data);
    const words = ['-D', data, '-p', String(port), ...settingWords(setting)];
    started = startLogged({ ...setting, program: setting.binaries.postgres, words, detached: true });
  }
  throw new Error(`the server was not ready after ${longestStart / 1000} s`);
}

/**
 * Stops a server at once but cleanly: sessions are ended, what is committed is on disk. SIGINT is Postgres' "fast
 * shutdown". One that was asked while it recovered from a crash may never end (18.4); SIGQUIT ends that, and what is
 * committed is recovered at the next start.
 */
export function* stopServer(data: string, log: string): Steps<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    const server = findServer(data);
    if (server !== undefined) process.kill(server.pid, signal);
    for (const deadline = Date.now() + longestStop[signal]; Date.now() < deadline; yield pollInterval)
      if (findServer(data) === undefined) return;
  }
  const pid = findServer(data)?.pid;
  if (pid !== undefined)
    throw new Error(`The embedded Postgres (process ${pid}) has not stopped. Its log is ${log}.`);
}

/**
 * Removes the postmaster.pid of a crashed server if its number is that of a zombie, or of another program by now:
 * Postgres would take either for a server and refuse to start. Every other stale file it removes itself, and it finds
 * sessions of the crashed server by their shared memory in any case.
 */
function removeMisleadingPidFile(data: string): void {
  const pid = Number(readText(pidFile(data))?.split('\n')[0]);
  if (pid > 0 && answersSignals(pid) && !isServerOf(pid, data)) rmSync(pidFile(data));
}

/** The same for the same folder, so that nothing has to remember it; below those that programs get which ask for any. */
function usualPort(data: string): number {
  return 20_000 + (createHash('sha256').update(data).digest().readUInt32BE() % 10_000);
}

function isServerOf(pid: number, data: string): boolean {
  return pid > 0 && commandLine(pid)?.includes(`postgres -D ${data} `) === true;
}

function pidFile(data: string): string {
  return join(data, 'postmaster.pid');
}
