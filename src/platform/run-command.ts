import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export type CommandCall = {
  /** A program and its arguments. A name with a slash is a path relative to `folder`. */
  readonly command: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
  readonly timeout: number;
  /** Milliseconds between SIGTERM and SIGKILL, and for reading the rest of the output. */
  readonly grace?: number;
};

export type CommandResult = {
  /** Undefined for exit code 0. */
  readonly problem?: string;
  /** The beginning of both outputs. */
  readonly output: string;
};

/** In bytes; later output is ignored. */
const maxOutputBytes = 4_096;

const defaultGrace = 2_000;

/** Used when this process must end soon. */
const shortGrace = 500;

/**
 * Runs a program without a shell. Its whole process group has ended when this resolves. Never rejects. The
 * program's parent is `command-parent.js`, with the program's environment, so /proc of the parent reveals
 * nothing else.
 *
 * @param cutOff ends the program early
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
  // A program that reads nothing may end first.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const stopProblem = enforceTimeout(child, { timeout, grace }, cutOff, programEnded.signal);
  const exitProblem = await ended;
  programEnded.abort();
  const problem = (await stopProblem) ?? exitProblem;
  signalGroup(child, 'SIGKILL');
  // A process that left the group may keep the pipes open.
  const pipesClosed = new AbortController();
  const pipeTimeout = cutOff.aborted ? shortGrace : grace;
  const timedOut = sleep(pipeTimeout, undefined, { signal: pipesClosed.signal }).catch(() => undefined);
  await Promise.race([closed, timedOut]);
  pipesClosed.abort();
  for (const pipe of child.stdio) pipe?.destroy();
  return { ...(problem === undefined ? {} : { problem }), output: output() };
}

const parent = fileURLToPath(new URL('./command-parent.js', import.meta.url));

/** @returns undefined if the arguments are invalid, such as those that contain NUL */
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
 * @param report the parent's description of how the program ended
 * @returns undefined for exit code 0
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

/** @returns why the program was stopped, or undefined */
async function enforceTimeout(
  child: ChildProcess,
  { timeout, grace }: { readonly timeout: number; readonly grace: number },
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
  return cutOff.aborted ? 'was stopped, because the process had to end' : `did not end within ${timeout} ms`;
}

/** Signals the program and its children. Ignores ended ones. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended.
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
