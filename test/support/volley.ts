import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { loadSubcommand } from '../../src/cli/command.ts';
import { commandList } from '../../src/cli/command-list.ts';
import { retiredCommands } from '../../src/cli/retired-commands.ts';
import type { Shell } from '../../src/cli/shell.ts';
import { plainScreen, type Screen } from '../../src/report/screen.ts';
import { uncleanLine } from './clean-log.ts';

const entry = fileURLToPath(new URL('../../src/cli/volley.js', import.meta.url));

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type Started = {
  readonly process: ChildProcess;
  /** Resolves when standard error contains the text. */
  readonly waitForText: (text: string) => Promise<void>;
  readonly stderrSoFar: () => string;
  readonly ended: Promise<Ended>;
};

export type ProcessOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** Keeps the pipe open, as if more input would follow. */
  readonly keepInputOpen?: boolean;
  /** Flags for Node. */
  readonly nodeFlags?: readonly string[];
  /** The launcher of an installed Volley, instead of this checkout's. */
  readonly launcher?: string;
  /** Words of another program that starts the command. */
  readonly before?: readonly string[];
};

/**
 * Starts the real command line, with only PATH and HOME from our environment. Fails if its log contains a
 * secret or an address.
 */
export function startVolley(
  words: readonly string[],
  {
    cwd,
    env,
    input = '',
    keepInputOpen = false,
    nodeFlags = [],
    launcher = entry,
    before = [],
  }: ProcessOptions = {},
): Started {
  const { PATH = '', HOME = '' } = process.env;
  const [program = process.execPath, ...rest] = [
    ...before,
    process.execPath,
    ...nodeFlags,
    launcher,
    ...words,
  ];
  const child = spawn(program, rest, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command that reads no input may end first.
  child.stdin.on('error', () => {});
  child.stdin.write(input);
  if (!keepInputOpen) child.stdin.end();
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece: Buffer) => {
    stdout += piece.toString();
  });
  child.stderr.on('data', (piece: Buffer) => {
    stderr += piece.toString();
  });
  const ended = once(child, 'close').then(([code]: (number | null)[]): Ended => {
    const unclean = uncleanLine(stderr, env ?? {});
    if (unclean !== undefined) throw new Error(`a secret or an address is in the log: ${unclean}`);
    return { code: code ?? null, stdout, stderr };
  });
  const waitForText = async (text: string): Promise<void> => {
    while (!stderr.includes(text)) {
      if (child.exitCode !== null) throw new Error(`ended before it said "${text}": ${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  return { process: child, waitForText, stderrSoFar: () => stderr, ended };
}

export function volley(words: readonly string[], surroundings?: ProcessOptions): Promise<Ended> {
  return startVolley(words, surroundings).ended;
}

/**
 * Milliseconds that a process may take to stop: ten seconds on an idle machine, adjusted by the duration of a
 * small command.
 */
export async function maxStopMilliseconds(): Promise<number> {
  const begun = performance.now();
  await volley(['--version']);
  return 9_000 + 10 * (performance.now() - begun);
}

/** The default system user of commands in this process. */
export const tester = 'tester@here';

export type InProcessOptions = Pick<ProcessOptions, 'cwd' | 'env' | 'input'> & {
  /** Lines that a person types at a terminal. */
  readonly typed?: readonly string[];
  readonly resultTerminal?: boolean;
  readonly screen?: Screen;
  readonly user?: string;
  /** The clock of the command. */
  readonly now?: () => Date;
};

export type StartedInProcess = Pick<Started, 'waitForText' | 'stderrSoFar' | 'ended'> & {
  /** Does what the first Ctrl-C does. */
  readonly stop: () => void;
};

/**
 * Runs the command line in this process, half a second faster. Its log goes to this process's standard error. Fails if it
 * ends with an exit code that its definition does not have.
 */
export function startInProcess(
  words: readonly string[],
  {
    cwd = process.cwd(),
    env = {},
    input,
    typed,
    resultTerminal = false,
    screen = plainScreen,
    user = tester,
    now = () => new Date(),
  }: InProcessOptions = {},
): StartedInProcess {
  const stopping = new AbortController();
  const pieces: Buffer[] = [];
  let stderr = '';
  let code: number | null = 0;
  let isOver = false;
  const result = new Writable({
    write: (piece: Buffer, _, done) => {
      pieces.push(piece);
      done();
    },
  });
  const standardInput =
    typed === undefined
      ? input !== undefined && Readable.from([Buffer.from(input)])
      : Object.assign(Readable.from(typed.map((line) => Buffer.from(`${line}\n`))), { isTTY: true });
  const settings = { environment: env, workingFolder: cwd, ...(standardInput && { standardInput }) };
  const shell: Shell = {
    user,
    settings,
    settingsIn: () => settings,
    exportVariables: () => undefined,
    now,
    result,
    print: (text) => void result.write(`${text}\n`),
    note: (text) => {
      stderr += `${text}\n`;
    },
    noteInline: (text) => {
      stderr += text;
    },
    program: [process.execPath, entry],
    terminal: typed !== undefined,
    resultTerminal,
    screen,
    noteScreen: screen,
    stop: stopping.signal,
    drainOnStop: () => undefined,
    endOnStop: () => undefined,
    exitWith: (ended) => {
      code = ended;
    },
    leave: (ended) => {
      throw new Error(`leaves with ${ended}`);
    },
  };
  const ended = import('../../src/cli/main.ts')
    .then(({ runVolley }) => runVolley(words, shell))
    .finally(() => {
      isOver = true;
    })
    .then(async () => {
      if (!(await declaredExits(words)).includes(code ?? 0))
        throw new Error(`volley ${words.join(' ')} ended with ${code}, which its definition does not have`);
      return { code, stdout: Buffer.concat(pieces).toString(), stderr };
    });
  const waitForText = async (text: string): Promise<void> => {
    while (!stderr.includes(text)) {
      if (isOver) throw new Error(`ended before it said "${text}": ${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  return { waitForText, stderrSoFar: () => stderr, ended, stop: () => stopping.abort() };
}

/** For commands that need no stop. */
export function volleyInProcess(words: readonly string[], surroundings?: InProcessOptions): Promise<Ended> {
  return startInProcess(words, surroundings).ended;
}

/** The exit codes that the called command can have, by its definition. Usage errors end with 2. */
async function declaredExits(words: readonly string[]): Promise<readonly number[]> {
  const general = [0, 1, 2];
  const [name = '', next = ''] = words.slice(words.findIndex((word) => Object.hasOwn(commandList, word)));
  const listed = retiredCommands[`${name} ${next}`] ?? retiredCommands[name] ?? commandList[name];
  if (listed === undefined) return general;
  const { command } = await listed.load();
  if (command.kind === 'command') return [...general, ...Object.keys(command.exits).map(Number)];
  const subcommand = command.commands[next];
  if (subcommand === undefined) return general;
  const { exits } = await loadSubcommand(subcommand);
  return [...general, ...Object.keys(exits).map(Number)];
}
