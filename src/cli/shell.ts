import { randomBytes, randomUUID } from 'node:crypto';
import type { EngineContext } from '../engine/context.ts';
import type { Settings } from '../engine/prepare.ts';
import { openLedger } from '../ledger/connection.ts';
import { leaseDatabase } from '../platform/database.ts';
import { listenForStop } from '../platform/signals.ts';

/** What a command has of the process it runs in. */
export type Shell = {
  readonly settings: Settings;
  readonly now: () => Date;
  /** Results, to standard output. */
  readonly print: (text: string) => void;
  /** Everything else, to standard error. */
  readonly note: (text: string) => void;
  /** Whether standard error is a terminal, where a line can be drawn again. */
  readonly terminal: boolean;
  /** Aborted by the first Ctrl-C or `kill`, for commands that say they drain. */
  readonly stop: AbortSignal;
  readonly drainable: () => void;
  readonly exitWith: (code: ExitCode) => void;
};

/** 0 done and all accepted, 1 internal error, 2 bad input, 3 some requests not accepted, 4 stopped before the end, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 130;

export function processShell(): Shell {
  const { signal, drainable } = listenForStop();
  return {
    settings: {
      environment: process.env,
      workingFolder: process.cwd(),
      // Opened only when it is asked for: an open pipe would keep the process waiting.
      get standardInput() {
        return process.stdin;
      },
    },
    now: () => new Date(),
    print: (text) => void process.stdout.write(`${text}\n`),
    note: (text) => void process.stderr.write(`${text}\n`),
    // A terminal that does not tell its size cannot be drawn on.
    terminal: process.stderr.isTTY === true && process.stderr.columns > 0,
    stop: signal,
    drainable,
    exitWith: (code) => {
      process.exitCode = code;
    },
  };
}

/** Opens the ledger for as long as a command works with it; starts the embedded server if there is no other. */
export async function withLedger<Result>(
  { settings, now }: Shell,
  work: (context: EngineContext) => Promise<Result>,
): Promise<Result> {
  const lease = await leaseDatabase(settings.environment, settings.workingFolder);
  try {
    const ledger = await openLedger(lease.connection, lease.description);
    try {
      return await work({ ledger, now, randomBytes, randomUuid: randomUUID });
    } finally {
      await ledger.close();
    }
  } finally {
    await lease.release();
  }
}
