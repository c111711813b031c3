import { InputError } from '../domain/problems.ts';
import type { EngineContext } from '../engine/context.ts';
import type { PreviewContext } from '../engine/plan/preview-campaign.ts';
import type { Settings } from '../engine/settings.ts';
import type { SchemaAccess } from '../ledger/schema.ts';
import { findHome } from '../platform/project.ts';
import { listenForStop } from '../platform/signals.ts';
import { printableLines } from '../report/printable.ts';
import { type Screen, wantsColour } from '../report/screen.ts';
import { currentUser } from './current-user.ts';
import type { ExitCode } from './exit-codes.ts';
import type { OpenedLedger } from './open-context.ts';
import { OutputError, standardOutput } from './output/output-error.ts';

export type Shell = {
  /** The user of the operating system, `user@host`. */
  readonly user: string;
  readonly settings: Settings;
  /** The settings of a command in another folder, which has its own `.env`. */
  readonly settingsIn: (workingFolder: string) => Settings;
  /** Sets the variables that the driver of Postgres reads from the process, unless they are set. */
  readonly exportVariables: (environment: Settings['environment']) => void;
  readonly now: () => Date;
  readonly result: NodeJS.WritableStream;
  /** Writes a line to standard output. */
  readonly print: (text: string) => void;
  /** Writes a line to standard error. */
  readonly note: (text: string) => void;
  /** Writes to standard error, without a line end. */
  readonly noteInline: (text: string) => void;
  /** Absolute: Node, and the file that was started. */
  readonly program: readonly string[];
  /** Whether standard error can redraw a line. */
  readonly terminal: boolean;
  readonly screen: Screen;
  readonly noteScreen: Screen;
  /** The zone of --time-zone. */
  readonly timeZone?: string | undefined;
  /** Whether standard output is a terminal. */
  readonly resultTerminal: boolean;
  /** Aborted by the first Ctrl-C or `kill`, for commands that drain. */
  readonly stop: AbortSignal;
  /** Makes Ctrl-C drain the command; the text says what it then waits for. */
  readonly drainOnStop: (waitsFor: () => string) => void;
  /** Makes Ctrl-C end the command at once; the text says what that means. */
  readonly endOnStop: (text: string) => void;
  readonly exitWith: (code: ExitCode) => void;
  /** Ends the process without closing, which could wait for the database; as safe as a kill. */
  readonly leave: (code: ExitCode) => never;
};

export function processShell(): Shell {
  const writeLine = (stream: NodeJS.WriteStream, text: string): void =>
    void stream.write(`${stream.isTTY ? printableLines(text) : text}\n`);
  const {
    signal,
    drains,
    drainable: drainOnStop,
    endsAtOnce: endOnStop,
  } = listenForStop((text) => writeLine(process.stderr, text));
  // An end at once would leave requests in doubt.
  watchStandardOutput(drains);
  // A full disk of a log must not put requests in doubt.
  process.stderr.on('error', () => undefined);
  const settings: Settings = {
    environment: process.env,
    workingFolder: process.cwd(),
    // An open standard input keeps the process running.
    get standardInput() {
      return process.stdin;
    },
  };
  return {
    user: currentUser(process.env),
    settings,
    settingsIn: () => settings,
    exportVariables: exportToDriver,
    now: () => new Date(),
    result: process.stdout,
    print: (text) => writeLine(process.stdout, text),
    note: (text) => writeLine(process.stderr, text),
    noteInline: (text) => void process.stderr.write(text),
    program: [process.execPath, process.argv[1] ?? ''],
    terminal: process.stderr.isTTY === true && process.stderr.columns > 0,
    screen: screenOfStream(process.stdout),
    noteScreen: screenOfStream(process.stderr),
    resultTerminal: process.stdout.isTTY === true,
    stop: signal,
    drainOnStop,
    endOnStop,
    exitWith: (code) => {
      process.exitCode = code;
    },
    leave: (code) => process.exit(code),
  };
}

function exportToDriver(environment: Settings['environment']): void {
  for (const [name, value] of Object.entries(environment))
    if (/^PG[A-Z]/.test(name) && value !== undefined) process.env[name] ??= value;
}

/** @returns undefined for a zone without a name */
function localZone(): string | undefined {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return /^[A-Za-z]/.test(timeZone) && timeZone !== 'Etc/Unknown' ? timeZone : undefined;
}

function screenOfStream({ isTTY, columns }: NodeJS.WriteStream): Screen {
  return {
    width: isTTY === true && columns > 0 ? columns : undefined,
    colour: wantsColour(process.env, isTTY === true),
    zone: isTTY === true ? localZone() : undefined,
  };
}

/** Opens and migrates the ledger. Makes a new one only if VOLLEY_HOME names it. @throws InputError without a ledger */
export function withLedger<Result>(
  shell: Shell,
  work: (context: EngineContext) => Promise<Result>,
): Promise<Result> {
  const { DATABASE_URL: url, VOLLEY_HOME: home } = shell.settings.environment;
  return withLedgerFor(!url && home ? 'create' : 'migrate', shell, work);
}

/** Opens the ledger for a command that only reads: nothing is made, migrated or changed. */
export function withLedgerToRead<Result>(
  shell: Shell,
  work: (context: EngineContext) => Promise<Result>,
): Promise<Result> {
  return withLedgerFor('read', shell, work);
}

export function withNewLedger<Result>(
  shell: Shell,
  work: (context: EngineContext, opened: OpenedLedger) => Promise<Result>,
): Promise<Result> {
  return withLedgerFor('create', shell, work);
}

async function withLedgerFor<Result>(
  access: SchemaAccess,
  shell: Shell,
  work: (context: EngineContext, opened: OpenedLedger) => Promise<Result>,
): Promise<Result> {
  // The modules of Postgres are a third of what a command loads.
  const { openContext } = await import('./open-context.ts');
  const { context, opened, close } = await openContext(shell, access);
  try {
    return await work(context, opened);
  } finally {
    await close();
  }
}

export async function withLedgerIfAny<Result>(
  shell: Shell,
  work: (context: EngineContext | undefined) => Promise<Result>,
): Promise<Result> {
  const { environment, workingFolder } = shell.settings;
  const home = findHome(environment, workingFolder);
  const { hasEmbeddedData } = await import('../platform/embedded-postgres.ts');
  const isThere = home !== undefined && hasEmbeddedData(home);
  if (!environment['DATABASE_URL'] && !isThere) return work(undefined);
  const { openContext } = await import('./open-context.ts');
  const opened = await openContext(shell, 'read').catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    shell.note(`${error.message}\nContinuing without the ledger.`);
    return undefined;
  });
  if (!opened) return work(undefined);
  try {
    return await work(opened.context);
  } finally {
    await opened.close();
  }
}

/**
 * For a plan, which reads the ledger if there is one. Else its contacts are staged in a server that ends with the command.
 *
 * @throws InputError when there is neither a ledger nor the embedded server
 */
export async function withLedgerToPlan<Result>(
  shell: Shell,
  work: (context: PreviewContext) => Promise<Result>,
): Promise<Result> {
  return withLedgerIfAny(shell, async (context) => {
    if (context) return work(context);
    const { openScratch } = await import('./open-context.ts');
    const { scratch, close } = await openScratch();
    try {
      return await work({ scratch, now: shell.now });
    } finally {
      await close();
    }
  });
}

/** A reader such as `head` can end early without an error. Other failures are reported once and end with 1. */
function watchStandardOutput(drains: () => boolean): void {
  let failed = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (failed) return;
    failed = true;
    const readerEnded = error.code === 'EPIPE';
    if (!readerEnded) process.stderr.write(`${new OutputError(standardOutput, error).message}\n`);
    if (!drains()) process.exit(readerEnded ? 0 : 1);
    if (readerEnded) return;
    process.on('exit', (code) => {
      if (code === 0) process.exitCode = 1;
    });
  });
}
