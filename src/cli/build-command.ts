import { Argument, type Command, Option } from 'commander';
import {
  type ArgumentSpec,
  type CommandDefinition,
  type Definition,
  type Example,
  isShown,
  loadSubcommand,
  MissingArgumentError,
  type OptionSpec,
} from './command.ts';
import { exitsTitle } from './help-text.ts';
import { retiredCommands } from './retired-commands.ts';
import type { Shell } from './shell.ts';
import { failMissingArgument } from './usage-errors.ts';

export type Call = {
  readonly shell: Shell;
  readonly words: readonly string[];
  /** What to use instead of a retired command. */
  readonly instead?: string;
};

/** Makes commander parse a command by its definition, and of its subcommands the called one, or all for the help. */
export async function buildCommand(command: Command, definition: Definition, call: Call): Promise<void> {
  command.description(definition.description);
  if (definition.kind === 'command') {
    await buildAction(command, definition, call);
    return;
  }
  const { words } = call;
  const next = words[words.indexOf(command.name()) + 1] ?? '';
  const retired = retiredCommands[`${command.name()} ${next}`];
  if (retired !== undefined) {
    const { command: former } = await retired.load();
    await buildCommand(command.command(next, { hidden: true }), former, { ...call, ...retired });
    return;
  }
  const subcommands = Object.entries(definition.commands);
  const called = subcommands.filter(([name]) => name === next);
  for (const [name, listed] of called.length > 0 ? called : subcommands)
    await buildCommand(command.command(name), await loadSubcommand(listed), call);
}

async function buildAction(
  command: Command,
  definition: CommandDefinition,
  { shell, words, instead }: Call,
): Promise<void> {
  const { details, exits, examples } = definition;
  for (const spec of definition.arguments) command.addArgument(commanderArgument(spec));
  const shown = definition.arguments.filter(isShown);
  command.usage(['[options]', ...shown.map(({ flags }) => flags)].join(' '));
  for (const spec of definition.options) command.addOption(await commanderOption(spec, words));
  for (const text of [details, exitsText(exits), examplesText(examples)])
    if (text !== undefined) command.addHelpText('after', `\n${text}`);
  command.action(async () => {
    if (instead !== undefined) shell.note(retiredText(`volley ${fullName(command)}`, instead));
    const givenArguments = definition.arguments.filter(
      (_, index) => command.processedArgs[index] !== undefined,
    );
    for (const text of retiredTexts(givenArguments)) shell.note(text);
    for (const text of retiredOptions(command, definition.options)) shell.note(text);
    await definition.run(shell, command.processedArgs, command.opts()).catch((error: unknown) => {
      if (error instanceof MissingArgumentError) failMissingArgument(command, error.message);
      throw error;
    });
  });
}

export function retiredOptions(command: Command, options: readonly OptionSpec[]): string[] {
  const isGiven = (flags: string): boolean =>
    command.options.some(
      (option) => option.flags === flags && command.getOptionValueSource(option.attributeName()) === 'cli',
    );
  return retiredTexts(options.filter(({ flags }) => isGiven(flags)));
}

const retiredTexts = (given: readonly (ArgumentSpec | OptionSpec)[]): string[] =>
  given.flatMap(({ flags, reading: { retired } }) =>
    retired === undefined ? [] : retiredText(flags, retired),
  );

const retiredText = (way: string, instead: string): string =>
  `${way} works for one more version. Use ${instead}.`;

const fullName = (command: Command): string =>
  command.parent?.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();

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
  const {
    choices,
    read,
    loadReader,
    default: byDefault,
    defaultText,
    required,
    conflicts,
    retired,
  } = reading;
  const option = new Option(flags, summary).hideHelp(retired !== undefined);
  if (choices) option.choices(choices);
  if (read) option.argParser(read);
  const { long } = option;
  const isGiven = words.some((word) => word === long || word.startsWith(`${long}=`));
  if (loadReader && isGiven) option.argParser(await loadReader());
  if (byDefault !== undefined) option.default(byDefault, defaultText);
  return option.makeOptionMandatory(required === true).conflicts([...(conflicts ?? [])]);
}

const examplesText = (examples: readonly Example[]): string | undefined =>
  examples.length === 0
    ? undefined
    : ['Examples:', ...examples.map(([line, what]) => `  # ${what}\n  ${line}`)].join('\n');

const exitsText = (exits: CommandDefinition['exits']): string | undefined => {
  const lines = Object.entries(exits).map(([code, text]) => `  ${code.padEnd(5)}  ${text}`);
  return lines.length === 0 ? undefined : [exitsTitle, ...lines].join('\n');
};
