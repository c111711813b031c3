import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, copyFileSync, fstatSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { answersSignals } from './process-identity.ts';
import { readText } from './server-files.ts';
import { type LockFile, scriptWords } from './server-locks.ts';
import type { ServerUser } from './server-user.ts';

/** A start after a crash replays at most 1 GB of write-ahead log, some 20 s on a slow disk (seconds). */
export const longestStart = 120;
/** It writes what it has in memory to disk first, which is at most some hundred megabytes (seconds). */
export const longestStop = 60;
const largestLog = 4_000_000;

/** What a program of Postgres sees of our environment: nothing, above all no credentials and no settings of libpq. */
const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * Stops the server whose postmaster.pid is `$0`, and ends when nothing has the lock of the data (file 5) any longer. SIGINT is
 * Postgres' "fast shutdown": sessions are ended, what is committed is on disk. One that was asked while it recovered from a
 * crash may never end (18.4); SIGQUIT ends that, and what is committed is recovered at the next start. One that has just
 * been started has no postmaster.pid yet.
 */
export const stopScript = `
tries=0
until lock $((tries > 0)) x <&5; do
  tries=$((tries + 1))
  [ $tries -gt ${longestStop + 10} ] && exit 1
  [ $tries -gt ${longestStop} ] && signal=QUIT || signal=INT
  read -r pid <"$0" && kill -s $signal "$pid"
done`;

/**
 * Becomes the server, which keeps the lock of the data (file 3). Before, it leaves a process behind that waits until no command
 * shares the users' lock (4), however the last of them ended, and then stops what server there is by then.
 */
const startScript = `
( ( exec 3<&-; lock 999999999 x <&4; ${stopScript}
) >/dev/null 2>&1 & )
exec "$@" 4<&- 5<&-`;

export type ServerProcess = { readonly pid: number; readonly port: number; readonly isReady: boolean };

/** What the server of a data folder says of itself. Its file may be stale where nothing has the lock of the data. */
export function readServer(data: string): ServerProcess | undefined {
  const [pid, , , port, , , , state] = readText(pidFileOf(data))?.split('\n') ?? [];
  if (!(Number(pid) > 0 && answersSignals(Number(pid)))) return undefined;
  return { pid: Number(pid), port: Number(port), isReady: state?.trim() === 'ready' };
}

export type ProgramCall = {
  readonly log: string;
  /** Words of a shell: a script, its `$0` and so on. */
  readonly words: readonly string[];
  readonly user: ServerUser;
  /** What it has as file 3 and following: the lock of the data, which is held as long as it works on them; and others. */
  readonly locks: readonly LockFile[];
  readonly input?: string;
};

/**
 * Starts the server of data whose lock this process has alone; the lock is the server's from then on.
 *
 * @param onlyPort where its users have an address already
 * @returns its port, when it is ready
 * @throws Error when there is no server, or none at that port
 */
export async function startServer(
  call: Omit<ProgramCall, 'words'>,
  data: string,
  server: readonly string[],
  onlyPort: number | undefined,
): Promise<number> {
  for (let port = onlyPort ?? usualPort(data); ; port += 1) {
    // Of a server that is gone, as the lock says; Postgres may take another program, by its number, for that one.
    rmSync(pidFileOf(data), { force: true });
    const words = scriptWords(startScript, pidFileOf(data), ...server, '-D', data, '-p', String(port));
    const { child, complaint } = startLogged({ ...call, words });
    child.unref();
    for (const deadline = Date.now() + longestStart * 1000; isRunning(child); await sleep(10)) {
      if (readServer(data)?.isReady) return port;
      if (Date.now() > deadline) throw new Error(`the server was not ready after ${longestStart} s`);
    }
    const isPortTaken = /could not (bind|create any TCP)/.test(complaint());
    if (!isPortTaken) throw new Error(complaint());
    if (onlyPort !== undefined) throw new Error(`another program has taken its port, ${port}`);
  }
}

/** Runs programs of Postgres to their end. @throws Error when one fails */
export async function runLogged(call: ProgramCall): Promise<void> {
  const { child, complaint } = startLogged(call);
  await once(child, 'exit');
  if (child.exitCode === 0) return;
  const isIncomplete = /shared librar/.test(complaint());
  const advice = isIncomplete ? ' (if npm skipped install scripts, `npm rebuild` completes it)' : '';
  throw new Error(`the data could not be made: ${complaint()}${advice}`);
}

/** Starts programs of Postgres, whose complaints go to the log, out of reach of a Ctrl-C in the terminal. */
function startLogged({ log, words, user, locks, input }: ProgramCall) {
  const descriptor = openSync(log, 'a', 0o600);
  try {
    // Copied and not renamed, so that the file keeps its owner when root comes by.
    if (fstatSync(descriptor).size > largestLog) {
      copyFileSync(log, `${log}.1`);
      truncateSync(log);
    }
    const begin = fstatSync(descriptor).size;
    const files = { cwd: '/', stdio: ['pipe' as const, 'ignore' as const, descriptor, ...locks] };
    const child = spawn('/bin/sh', words, { ...user, ...files, env, detached: true });
    // A program that ends early says why in the log.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    return { child, complaint: () => complaintIn(child, readFileSync(log).subarray(begin).toString('utf8')) };
  } finally {
    closeSync(descriptor);
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

/** Why a program failed, in the words of the log that say it best. */
function complaintIn({ signalCode }: ChildProcess, logged: string): string {
  if (signalCode !== null) return `it was ended by ${signalCode}`;
  const lines = logged.split('\n').filter((line) => line.trim() !== '');
  const said =
    lines.find((line) => /\b(FATAL|PANIC|error):/i.test(line)) ?? lines.at(-1) ?? 'nothing was logged';
  return said.replace(/^.*?\b(FATAL|PANIC|error|initdb):\s*/i, '').replace(/[.\s]+$/, '');
}

/** The same for the same folder, so that nothing has to remember it; below those that programs get which ask for any. */
function usualPort(data: string): number {
  return 20_000 + (createHash('sha256').update(data).digest().readUInt32BE() % 10_000);
}

export function pidFileOf(data: string): string {
  return join(data, 'postmaster.pid');
}
