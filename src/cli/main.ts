import { Command } from 'commander';
import { keepHeapSmall } from '../platform/heap.ts';
import { requireLogLevel } from '../platform/log-level.ts';
import { readVersion } from '../platform/package-folder.ts';
import { buildCommand, commanderOption, retiredOptions } from './build-command.ts';
import { commandList, commandSections } from './command-list.ts';
import { withEnvFiles } from './env-file-settings.ts';
import { explain } from './failures.ts';
import { globalOptions, type ScreenSetters } from './global-options.ts';
import { commandsFirst, helpText, purpose } from './help-text.ts';
import { retiredCommands } from './retired-commands.ts';
import { processShell, type Shell } from './shell.ts';
import { refuseEmpty, withUsageErrors } from './usage-errors.ts';

export async function main(words: readonly string[]): Promise<void> {
  keepHeapSmall();
  await runVolley(words, processShell());
}

export async function runVolley(words: readonly string[], shell: Shell): Promise<void> {
  try {
    await parseCommandLine(words, withEnvFiles(shell, words));
  } catch (error) {
    shell.exitWith(explain(error, shell));
  }
}

/** Explains failures in the colours of --color and the zone of --time-zone. */
async function parseCommandLine(words: readonly string[], shell: Shell): Promise<void> {
  // --color and --time-zone change these during parsing.
  const screens = { screen: { ...shell.screen }, noteScreen: { ...shell.noteScreen } };
  let timeZone: string | undefined;
  const own: Shell = {
    ...shell,
    ...screens,
    get timeZone() {
      return timeZone;
    },
  };
  const adjust: ScreenSetters = {
    setColour(choice) {
      if (choice === 'auto') return;
      for (const screen of Object.values(screens)) screen.colour = choice === 'always';
    },
    setZone(zone) {
      timeZone = zone;
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
  const shared = globalOptions(setters);
  const program: Command = withUsageErrors(new Command('volley'))
    .description(purpose)
    .version(readVersion())
    .addHelpText('after', helpText())
    .exitOverride()
    .configureHelp({ formatHelp: commandsFirst })
    .hook('preAction', (_, command) => refuseEmpty(command))
    .hook('preAction', () => {
      for (const text of retiredOptions(program, shared)) shell.note(text);
    })
    .configureOutput({
      writeOut: (text) => void shell.result.write(text),
      writeErr: (text) => shell.note(text.trimEnd()),
    });
  for (const spec of shared) program.addOption(await commanderOption(spec, words));
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
  if (called === 'completion') addSuggest(program, shell);
  const retired = retiredCommands[called];
  if (retired !== undefined)
    await buildCommand(program.command(called, { hidden: true }), (await retired.load()).command, {
      shell,
      words,
      ...retired,
    });
  return program;
}

/** What the scripts of `volley completion` call: it takes any words, also empty ones, and no help shows it. */
function addSuggest(program: Command, shell: Shell): void {
  program.commands
    .find((command) => command.name() === 'completion')
    ?.command('suggest', { hidden: true })
    .allowExcessArguments()
    .action(async (_, { args }: Command) => {
      const { suggest } = await import('./completion/suggest.ts');
      for (const line of await suggest(shell, args)) shell.print(line);
    });
}

/** @returns '' without a command */
function calledCommand(program: Command, words: readonly string[]): string {
  const takeValue = new Set(program.options.filter(({ required }) => required).map(({ long }) => long));
  return words.find((word, index) => isCommand(word) && !takeValue.has(words[index - 1])) ?? '';
}

const isCommand = (word: string): boolean =>
  Object.hasOwn(commandList, word) || Object.hasOwn(retiredCommands, word);
