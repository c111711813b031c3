import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, copyFileSync, fstatSync, openSync, readFileSync, truncateSync } from 'node:fs';
import type { ServerUser } from './server-user.ts';

const largestLog = 4_000_000;

/** What a program of Postgres sees of our environment: nothing, above all no credentials and no settings of libpq. */
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** A program whose output goes to the log, and where in the log it begins. */
export type LoggedProgram = { readonly child: ChildProcess; readonly logStart: number };

/**
 * Starts a program of Postgres as the server's user, with nothing of ours held open. A `detached` one is in a session
 * of its own, so that a Ctrl-C in the terminal does not reach it.
 */
export function startLogged(
  log: string,
  program: string,
  words: readonly string[],
  { user, detached }: { user: ServerUser; detached: boolean },
): LoggedProgram {
  const descriptor = openSync(log, 'a', 0o600);
  try {
    const logStart = beginLog(log, descriptor);
    const child = spawn(program, words, {
      ...user,
      cwd: '/',
      env: environment,
      stdio: ['ignore', descriptor, descriptor],
      detached,
    });
    return { child, logStart };
  } finally {
    closeSync(descriptor);
  }
}

function beginLog(log: string, descriptor: number): number {
  const { size } = fstatSync(descriptor);
  if (size <= largestLog) return size;
  // Copied and not renamed, so that the file keeps its owner when root comes by.
  copyFileSync(log, `${log}.1`);
  truncateSync(log);
  return 0;
}

/** What was logged since a program began. */
export function readLogSince(log: string, start: number): string {
  return readFileSync(log).subarray(start).toString('utf8');
}

/** The line that says best why a program failed. */
export function complaintIn(logged: string): string {
  const lines = logged.split('\n').filter((line) => line.trim() !== '');
  const complaint =
    lines.find((line) => /\b(FATAL|PANIC|error):/i.test(line)) ?? lines.at(-1) ?? 'nothing was logged';
  return complaint.replace(/^.*?\b(FATAL|PANIC|error|initdb):\s*/i, '').replace(/[.\s]+$/, '');
}
