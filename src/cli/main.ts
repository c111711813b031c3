import { Command, CommanderError } from 'commander';
import { InputError } from '../domain/problems.ts';
import { databaseShortage, isConnectionFailure } from '../platform/database-failures.ts';
import { keepHeapSmall } from '../platform/heap.ts';
import { requireLogLevel } from '../platform/log-level.ts';
import { readVersion } from '../platform/package-folder.ts';
import { printable } from '../report/printable.ts';
import { buildCommand, commanderOption } from './build-command.ts';
import { commandList, commandSections } from './command-list.ts';
import { withEnvFiles } from './env-file-settings.ts';
import type { ExitCode } from './exit-codes.ts';
import { explainInput } from './explain-input.ts';
import { globalOptions, type ScreenSetters } from './global-options.ts';
import { helpText, purpose } from './help-text.ts';
import { OutputError } from './output-error.ts';
import { retiredCommands } from './retired-commands.ts';
import { processShell, type Shell } from './shell.ts';
import { refuseEmpty, withUsageErrors } from './usage-errors.ts';

export async function main(words: readonly string[]): Promise<void> {
  keepHeapSmall();
  await runCommand(words, processShell(words));
}

export async function runCommand(words: readonly string[], shell: Shell): Promise<void> {
  try {
    await parseCommandLine(words, withEnvFiles(shell, words));
  } catch (error) {
    shell.exitWith(explain(error, shell));
  }
}

/** Explains failures in the colours of --color and the zone of --zone. */
async function parseCommandLine(words: readonly string[], shell: Shell): Promise<void> {
  // --color and --zone change these during parsing.
  const screens = { screen: { ...shell.screen }, noteScreen: { ...shell.noteScreen } };
  const own = { ...shell, ...screens };
  const adjust: ScreenSetters = {
    setColour(choice) {
      if (choice === 'auto') return;
      for (const screen of Object.values(screens)) screen.colour = choice === 'always';
    },
    setZone(zone) {
      for (const screen of Object.values(screens)) screen.zone = zone;
    },
  };
  try {
    requireLogLevel(shell.settings.environment['LOG_LEVEL']);
    const program = await buildProgram(words, own, adjust);
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    shell.exitWith(explain(error, own));
  }
}

/** Defines the called command; the others are names in the help. */
export async function buildProgram(
  words: readonly string[],
  shell: Shell,
  setters: ScreenSetters,
): Promise<Command> {
  const program = withUsageErrors(new Command('volley'))
    .description(purpose)
    .version(readVersion())
    .addHelpText('after', helpText())
    .exitOverride()
    .hook('preAction', (_, command) => refuseEmpty(command))
    .configureOutput({
      writeOut: (text) => void shell.result.write(text),
      writeErr: (text) => shell.note(text.trimEnd()),
    });
  for (const spec of globalOptions(setters)) program.addOption(await commanderOption(spec, words));
  const called = calledCommand(program, words);
  for (const [section, commands] of Object.entries(commandSections)) {
    program.commandsGroup(`${section}:`);
    for (const [name, { summary, load }] of Object.entries(commands)) {
      const command = program.command(name).summary(summary).description(summary);
      if (name === called) await buildCommand(command, (await load()).command, { shell, words });
    }
  }
  // Into the last section.
  program.helpCommand(true);
  const retired = retiredCommands[called];
  if (retired !== undefined)
    await buildCommand(program.command(called, { hidden: true }), (await retired.load()).command, {
      shell,
      words,
      ...retired,
    });
  return program;
}

/** @returns '' without a command */
function calledCommand(program: Command, words: readonly string[]): string {
  const takeValue = new Set(program.options.filter(({ required }) => required).map(({ long }) => long));
  return words.find((word, index) => isCommand(word) && !takeValue.has(words[index - 1])) ?? '';
}

const isCommand = (word: string): boolean =>
  Object.hasOwn(commandList, word) || Object.hasOwn(retiredCommands, word);

/** The one place where a failure becomes an exit code. */
function explain(error: unknown, shell: Shell): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof InputError) {
    explainInput(error, shell);
    return 2;
  }
  if (error instanceof OutputError) {
    shell.note(error.message);
    return 1;
  }
  const shortage = databaseShortage(error);
  if (shortage !== undefined) {
    shell.note(
      `Postgres cannot continue: ${shortage}. What is recorded is kept. Make room there. \`volley runs\` lists the runs, and \`volley resume <run>\` continues one.`,
    );
    return 1;
  }
  if (isConnectionFailure(error)) {
    shell.note(
      `The connection to the database was lost: ${printable(error.message)}. What is recorded is kept. \`volley runs\` lists the runs, and \`volley resume <run>\` continues one.`,
    );
    return 1;
  }
  shell.note(
    error instanceof Error ? `Internal error: ${error.stack ?? error.message}` : `Internal error: ${error}`,
  );
  return 1;
}
