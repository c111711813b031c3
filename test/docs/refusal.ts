import { Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { buildProgram } from '../../src/cli/main.ts';
import type { Shell } from '../../src/cli/shell.ts';
import { plainScreen } from '../../src/report/screen.ts';

/** Does nothing. */
const silentShell: Shell = {
  user: 'tester',
  settings: { environment: {}, workingFolder: '/' },
  settingsIn: (workingFolder) => ({ environment: {}, workingFolder }),
  exportVariables: () => undefined,
  now: () => new Date(0),
  result: new Writable({ write: (_piece, _encoding, done) => done() }),
  print: () => undefined,
  note: () => undefined,
  noteInline: () => undefined,
  program: [],
  terminal: false,
  screen: plainScreen,
  noteScreen: plainScreen,
  resultTerminal: false,
  stop: new AbortController().signal,
  drainOnStop: () => undefined,
  endOnStop: () => undefined,
  exitWith: () => undefined,
  leave: (code) => {
    throw new Error(`leaves with ${code}`);
  },
};

/** With the real definitions of the commands that these words name. */
export const programFor = (words: readonly string[]): Promise<Command> =>
  buildProgram(words, silentShell, { setColour: () => undefined, setZone: () => undefined });

function withoutActions(command: Command): void {
  command.action(() => undefined);
  command.commands.forEach(withoutActions);
}

/** The error of commander for these arguments; no command is executed. */
export async function refusalOf(words: readonly string[]): Promise<CommanderError | undefined> {
  const program = await programFor(words);
  program.commands.forEach(withoutActions);
  try {
    await program.parseAsync([...words], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error;
    throw error;
  }
}
