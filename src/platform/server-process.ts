import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sleepWithoutEventLoop } from './file-lock.ts';
import { answersSignals, commandLine, isZombie } from './process-identity.ts';
import { readText } from './server-files.ts';

/** A server that is there, as its own postmaster.pid describes it. */
export type ServerProcess = {
  readonly pid: number;
  readonly port: number;
  readonly state: 'starting' | 'ready' | 'stopping';
};

/** It writes what it has in memory to disk first, which is at most some hundred megabytes. */
const longestStop = { SIGINT: 60_000, SIGQUIT: 10_000 };
const pollInterval = 10;

/** The server of a data folder; undefined when there is none, though a crash may have left its postmaster.pid. */
export function findServer(data: string): ServerProcess | undefined {
  const lines = readText(pidFile(data))?.split('\n');
  const pid = Number(lines?.[0]);
  if (lines === undefined || !Number.isSafeInteger(pid) || pid <= 0 || !isServerOf(pid, data))
    return undefined;
  const state = lines[7]?.trim();
  return {
    pid,
    port: Number(lines[3]),
    state: state === 'ready' || state === 'stopping' ? state : 'starting',
  };
}

/**
 * Removes the postmaster.pid of a crashed server if its number is that of a zombie, or of another program by now:
 * Postgres would take either for a server and refuse to start. Every other stale file it removes itself, and it finds
 * sessions of the crashed server by their shared memory in any case.
 */
export function removeMisleadingPidFile(data: string): void {
  const pid = Number(readText(pidFile(data))?.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !answersSignals(pid)) return;
  const isAnotherProgram = commandLine(pid) !== undefined && !isServerOf(pid, data);
  if (isZombie(pid) || isAnotherProgram) rmSync(pidFile(data));
}

/** Stops a server at once but cleanly: sessions are ended, what is committed is on disk. */
export async function stopServer(data: string, log: string): Promise<void> {
  for (const step of stopSteps(data, log)) await sleep(step);
}

/** The same without returning to the event loop, for a process that is ending. */
export function stopServerAtExit(data: string, log: string): void {
  for (const step of stopSteps(data, log)) sleepWithoutEventLoop(step);
}

/**
 * SIGINT is Postgres' "fast shutdown"; this is what `pg_ctl stop -m fast` sends. One that was asked while it recovered
 * from a crash may never end (18.4); SIGQUIT ends that, and what is committed is recovered at the next start.
 *
 * @returns waits until it is gone (milliseconds)
 */
function* stopSteps(data: string, log: string): Generator<number> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    const deadline = Date.now() + longestStop[signal];
    const server = findServer(data);
    if (server !== undefined) process.kill(server.pid, signal);
    while (Date.now() < deadline) {
      if (findServer(data) === undefined) return;
      yield pollInterval;
    }
  }
  const server = findServer(data);
  if (server !== undefined) throw new Error(stillRunningMessage(server, log));
}

function isServerOf(pid: number, data: string): boolean {
  return commandLine(pid)?.includes(`postgres -D ${data} `) === true;
}

function pidFile(data: string): string {
  return join(data, 'postmaster.pid');
}

function stillRunningMessage({ pid }: ServerProcess, log: string): string {
  return `The embedded Postgres (process ${pid}) has not stopped. Its log is ${log}.`;
}
