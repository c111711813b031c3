import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export type CommandCall = {
  /** A program and its arguments; a name with a slash is that of a file, relative to the folder. */
  readonly words: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string;
  readonly within: number;
  /** Milliseconds between the word to end and the end; and for what is still in its pipes. */
  readonly grace?: number;
};

export type CommandEnd = {
  /** Undefined when it ended with 0. */
  readonly problem?: string;
  /** The first of what it wrote, to whichever of its outputs. */
  readonly output: string;
};

/** What is kept of what a command writes (bytes); it may write on. */
const keptOutput = 4_096;

const usualGrace = 2_000;

/** The same of a process that is to be gone itself. */
const hurriedGrace = 500;

/**
 * Runs a program without a shell, in a process group of its own, of which nothing is left when this resolves. Never
 * rejects. Its parent is not this process but `command-parent.js`, which was given the same environment as the program:
 * what stands in /proc of its parent is what it has itself.
 *
 * @param cutOff ends it before its time
 */
export async function runCommand(
  { words, folder, environment, input, within, grace = usualGrace }: CommandCall,
  cutOff: AbortSignal,
): Promise<CommandEnd> {
  const child = start(words, folder, environment);
  if (child === undefined) return { problem: 'could not be started', output: '' };
  const output = collect(child);
  const closed = once(child, 'close').catch(() => undefined);
  const over = new AbortController();
  const ended = endOf(child, child.stdio[3]);
  // One that reads nothing may be over first.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const stopped = endInTime(child, { within, grace }, cutOff, over.signal);
  const byItself = await ended;
  over.abort();
  const problem = (await stopped) ?? byItself;
  endGroup(child, 'SIGKILL');
  // Whoever left the group may hold the pipes as long as it likes.
  const waited = new AbortController();
  const longest = cutOff.aborted ? hurriedGrace : grace;
  const patience = sleep(longest, undefined, { signal: waited.signal }).catch(() => undefined);
  await Promise.race([closed, patience]);
  waited.abort();
  for (const pipe of child.stdio) pipe?.destroy();
  return { ...(problem === undefined ? {} : { problem }), output: output() };
}

const parent = fileURLToPath(new URL('./command-parent.js', import.meta.url));

/** @returns undefined for words that no program can be started with, as those that hold a NUL */
function start(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): ChildProcessWithoutNullStreams | undefined {
  try {
    return spawn(process.execPath, [parent, ...words], {
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
 * @param words how the program ended, as its parent writes it
 * @returns undefined when it was with 0
 */
async function endOf(child: ChildProcess, words: ChildProcess['stdio'][number]): Promise<string | undefined> {
  const said = words instanceof Readable ? text(words).catch(() => '') : Promise.resolve('');
  const byItself = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve(`could not be started (${error.code ?? error.name})`),
    );
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal === null ? `ended with ${code}` : `was ended by ${signal}`);
    });
  });
  return byItself === undefined ? (await said) || undefined : byItself;
}

/** @returns why it was ended, where it was */
async function endInTime(
  child: ChildProcess,
  { within, grace }: { readonly within: number; readonly grace: number },
  cutOff: AbortSignal,
  over: AbortSignal,
): Promise<string | undefined> {
  const end = AbortSignal.any([cutOff, over]);
  await sleep(within, undefined, { signal: end }).catch(() => undefined);
  if (over.aborted) return undefined;
  endGroup(child, 'SIGTERM');
  const patience = cutOff.aborted ? hurriedGrace : grace;
  await sleep(patience, undefined, { signal: over }).catch(() => undefined);
  endGroup(child, 'SIGKILL');
  return cutOff.aborted ? 'was ended, as the process had to end' : `was not over within ${within} ms`;
}

/** The program, and what it has started; those that are gone are no problem. */
function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left of it.
  }
}

function collect({ stdout, stderr }: ChildProcess): () => string {
  const pieces: Buffer[] = [];
  let kept = 0;
  for (const pipe of [stdout, stderr]) {
    pipe?.on('error', () => undefined);
    pipe?.on('data', (piece: Buffer) => {
      const taken = piece.subarray(0, keptOutput - kept);
      if (taken.length === 0) return;
      pieces.push(Buffer.from(taken));
      kept += taken.length;
    });
  }
  return () => Buffer.concat(pieces).toString('utf8');
}
