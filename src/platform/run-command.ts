import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export type CommandCall = {
  /** A program and its arguments; a name with a slash is that of a file, relative to the folder. */
  readonly command: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeout: number;
  /** Milliseconds between the word to end and the end; and for what is still in its pipes. */
  readonly grace?: number;
};

export type CommandResult = {
  /** Undefined when it ended with 0. */
  readonly problem?: string;
  /** The first of what it wrote, to whichever of its outputs. */
  readonly output: string;
};

/** What is kept of what a command writes (bytes); it may write on. */
const maxOutputBytes = 4_096;

const defaultGrace = 2_000;

/** The same of a process that is to be gone itself. */
const shortGrace = 500;

/**
 * Runs a program without a shell, in a process group of its own, of which nothing is left when this resolves. Never
 * rejects. Its parent is not this process but `command-parent.js`, which was given the same environment as the program:
 * what stands in /proc of its parent is what it has itself.
 *
 * @param cutOff ends it before its time
 */
export async function runCommand(
  { command, folder, environment, input, timeout, grace = defaultGrace }: CommandCall,
  cutOff: AbortSignal,
): Promise<CommandResult> {
  const child = startParent(command, folder, environment);
  if (child === undefined) return { problem: 'could not be started', output: '' };
  const output = collectOutput(child);
  const closed = once(child, 'close').catch(() => undefined);
  const programEnded = new AbortController();
  const ended = waitForExit(child, child.stdio[3]);
  // One that reads nothing may be over first.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const stopProblem = enforceTimeout(child, { within: timeout, grace }, cutOff, programEnded.signal);
  const exitProblem = await ended;
  programEnded.abort();
  const problem = (await stopProblem) ?? exitProblem;
  signalGroup(child, 'SIGKILL');
  // Whoever left the group may hold the pipes as long as it likes.
  const pipesClosed = new AbortController();
  const pipeTimeout = cutOff.aborted ? shortGrace : grace;
  const timedOut = sleep(pipeTimeout, undefined, { signal: pipesClosed.signal }).catch(() => undefined);
  await Promise.race([closed, timedOut]);
  pipesClosed.abort();
  for (const pipe of child.stdio) pipe?.destroy();
  return { ...(problem === undefined ? {} : { problem }), output: output() };
}

const parent = fileURLToPath(new URL('./command-parent.js', import.meta.url));

/** @returns undefined for words that no program can be started with, as those that hold a NUL */
function startParent(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): ChildProcessWithoutNullStreams | undefined {
  try {
    return spawn(process.execPath, [parent, ...command], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
  } catch {
    return undefined;
  }
}

/**
 * @param report how the program ended, as its parent writes it
 * @returns undefined when it was with 0
 */
async function waitForExit(
  child: ChildProcess,
  report: ChildProcess['stdio'][number],
): Promise<string | undefined> {
  const reported = report instanceof Readable ? text(report).catch(() => '') : Promise.resolve('');
  const ownProblem = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve(`could not be started (${error.code ?? error.name})`),
    );
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal === null ? `ended with ${code}` : `was ended by ${signal}`);
    });
  });
  return ownProblem === undefined ? (await reported) || undefined : ownProblem;
}

/** @returns why it was ended, where it was */
async function enforceTimeout(
  child: ChildProcess,
  { within: timeout, grace }: { readonly within: number; readonly grace: number },
  cutOff: AbortSignal,
  programEnded: AbortSignal,
): Promise<string | undefined> {
  const end = AbortSignal.any([cutOff, programEnded]);
  await sleep(timeout, undefined, { signal: end }).catch(() => undefined);
  if (programEnded.aborted) return undefined;
  signalGroup(child, 'SIGTERM');
  const killDelay = cutOff.aborted ? shortGrace : grace;
  await sleep(killDelay, undefined, { signal: programEnded }).catch(() => undefined);
  signalGroup(child, 'SIGKILL');
  return cutOff.aborted ? 'was ended, as the process had to end' : `was not over within ${timeout} ms`;
}

/** The program, and what it has started; those that are gone are no problem. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left of it.
  }
}

function collectOutput({ stdout, stderr }: ChildProcess): () => string {
  const pieces: Buffer[] = [];
  let kept = 0;
  for (const pipe of [stdout, stderr]) {
    pipe?.on('error', () => undefined);
    pipe?.on('data', (piece: Buffer) => {
      const added = piece.subarray(0, maxOutputBytes - kept);
      if (added.length === 0) return;
      pieces.push(Buffer.from(added));
      kept += added.length;
    });
  }
  return () => Buffer.concat(pieces).toString('utf8');
}
