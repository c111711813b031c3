import { Argument, type Command, Option } from 'commander';
import {
  type ArgumentSpec,
  type CommandDefinition,
  type Definition,
  type Example,
  loadSubcommand,
  MissingArgumentError,
  type OptionSpec,
} from './command.ts';
import type { Shell } from './shell.ts';
import { failMissingArgument } from './usage-errors.ts';

/**
 * Makes commander parse a command by its definition, and of its subcommands the called one, or all for the help.
 *
 * @param words the whole command line
 */
export async function buildCommand(
  command: Command,
  definition: Definition,
  shell: Shell,
  words: readonly string[],
): Promise<void> {
  command.description(definition.description);
  if (definition.kind === 'command') {
    await buildAction(command, definition, shell, words);
    return;
  }
  const subcommands = Object.entries(definition.commands);
  const next = words[words.indexOf(command.name()) + 1];
  const called = subcommands.filter(([name]) => name === next);
  for (const [name, listed] of called.length > 0 ? called : subcommands)
    await buildCommand(command.command(name), await loadSubcommand(listed), shell, words);
}

async function buildAction(
  command: Command,
  definition: CommandDefinition,
  shell: Shell,
  words: readonly string[],
): Promise<void> {
  const { details, exits, examples, internal } = definition;
  for (const spec of definition.arguments) command.addArgument(commanderArgument(spec));
  for (const spec of definition.options) command.addOption(await commanderOption(spec, words));
  for (const text of [details, exitsText(exits), examplesText(examples)])
    if (text !== undefined) command.addHelpText('after', `\n${text}`);
  command.action(async () => {
    await definition.run(shell, command.processedArgs, command.opts()).catch((error: unknown) => {
      if (error instanceof MissingArgumentError) failMissingArgument(command, error.message);
      throw error;
    });
  });
  for (const [name, run] of Object.entries(internal))
    command
      .command(name, { hidden: true })
      .allowExcessArguments()
      .action((_, { args }: Command) => run(shell, args));
}

function commanderArgument({ flags, summary, reading: { choices, read } }: ArgumentSpec): Argument {
  const argument = new Argument(flags, summary);
  if (choices) argument.choices(choices);
  return read ? argument.argParser(read) : argument;
}

/** A reader is loaded only if the command line has its option: a package takes longer than a `--help`. */
export async function commanderOption(
  { flags, summary, reading }: OptionSpec,
  words: readonly string[],
): Promise<Option> {
  const { choices, read, late, otherwise, shown, required, conflicts } = reading;
  const option = new Option(flags, summary);
  if (choices) option.choices(choices);
  if (read) option.argParser(read);
  const { long } = option;
  const isGiven = words.some((word) => word === long || word.startsWith(`${long}=`));
  if (late && isGiven) option.argParser(await late());
  if (otherwise !== undefined) option.default(otherwise, shown);
  return option.makeOptionMandatory(required === true).conflicts([...(conflicts ?? [])]);
}

const examplesText = (examples: readonly Example[]): string | undefined =>
  examples.length === 0
    ? undefined
    : ['Examples:', ...examples.map(([line, what]) => `  # ${what}\n  ${line}`)].join('\n');

const exitsText = (exits: CommandDefinition['exits']): string | undefined => {
  const lines = Object.entries(exits).map(([code, text]) => `  ${code.padEnd(5)}  ${text}`);
  return lines.length === 0 ? undefined : ['Exit codes besides 0, 1 and 2:', ...lines].join('\n');
};
