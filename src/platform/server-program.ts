import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, copyFileSync, fstatSync, openSync, readFileSync, truncateSync } from 'node:fs';
import { basename } from 'node:path';
import type { ServerUser } from './server-user.ts';
import type { Steps } from './steps.ts';

const largestLog = 4_000_000;

/** What a program of Postgres sees of our environment: nothing, above all no credentials and no settings of libpq. */
const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export type ProgramCall = {
  readonly log: string;
  readonly program: string;
  readonly words: readonly string[];
  readonly user: ServerUser;
  /** In a session of its own, so that a Ctrl-C in the terminal does not reach it. */
  readonly detached?: boolean;
  readonly input?: string;
};

/** `complaint` is why it failed, in the words of the log that say it best. */
export type LoggedProgram = { readonly child: ChildProcess; readonly complaint: () => string };

/** Starts a program of Postgres whose complaints go to the log, with nothing of ours held open. */
export function startLogged({
  log,
  program,
  words,
  user,
  detached = false,
  input,
}: ProgramCall): LoggedProgram {
  const descriptor = openSync(log, 'a', 0o600);
  try {
    // Copied and not renamed, so that the file keeps its owner when root comes by.
    if (fstatSync(descriptor).size > largestLog) {
      copyFileSync(log, `${log}.1`);
      truncateSync(log);
    }
    const begin = fstatSync(descriptor).size;
    const child = spawn(program, words, {
      ...user,
      cwd: '/',
      env,
      detached,
      stdio: ['pipe', 'ignore', descriptor],
    });
    let failure = '';
    child.once('error', ({ message }) => {
      failure = message;
    });
    // A program that ends early says why in the log.
    child.stdin?.on('error', () => undefined).end(input);
    child.unref();
    const complaint = (): string => {
      if (failure !== '') return failure;
      if (child.signalCode !== null) return `${basename(program)} was ended by ${child.signalCode}`;
      return complaintIn(readFileSync(log).subarray(begin).toString('utf8'));
    };
    return { child, complaint };
  } finally {
    closeSync(descriptor);
  }
}

export function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

/** Runs a program of Postgres to its end. @throws Error when it fails */
export function* runLogged(call: ProgramCall): Steps<void> {
  const { child, complaint } = startLogged(call);
  do yield 10;
  while (isRunning(child));
  if (child.exitCode === 0) return;
  const advice = /shared librar/.test(complaint())
    ? ' (if npm skipped install scripts, `npm rebuild` completes it)'
    : '';
  throw new Error(`${basename(call.program)} failed: ${complaint()}${advice}`);
}

function complaintIn(logged: string): string {
  const lines = logged.split('\n').filter((line) => line.trim() !== '');
  const said =
    lines.find((line) => /\b(FATAL|PANIC|error):/i.test(line)) ?? lines.at(-1) ?? 'nothing was logged';
  return said.replace(/^.*?\b(FATAL|PANIC|error|initdb):\s*/i, '').replace(/[.\s]+$/, '');
}
