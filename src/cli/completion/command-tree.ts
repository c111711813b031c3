import type { Argument, Command, Option } from 'commander';

/** What a shell can suggest for a value. */
export type ValueKind = 'run' | 'account' | 'file' | 'choice' | 'other';

export type ValueSlot = {
  /** As the help shows it, such as `run`. */
  readonly name: string;
  readonly kind: ValueKind;
  readonly choices?: readonly string[];
  readonly repeatable?: true;
  readonly optional?: true;
  readonly summary: string;
};

export type OptionNode = {
  /** `--json`; `-V, --version` gives both. */
  readonly flags: readonly string[];
  readonly summary: string;
  /** The default, in words. */
  readonly otherwise?: string;
  /** Missing for an option without a value. */
  readonly value?: Omit<ValueSlot, 'summary'>;
};

/** A command with its options, arguments and subcommands. */
export type CommandNode = {
  readonly name: string;
  readonly alias?: string;
  /** One line, for a list of commands. */
  readonly summary: string;
  readonly description: string;
  readonly arguments: readonly ValueSlot[];
  readonly options: readonly OptionNode[];
  readonly commands: readonly CommandNode[];
};

export function readCommandTree(command: Command): CommandNode {
  const [alias] = command.aliases();
  return {
    name: command.name(),
    ...(alias === undefined ? {} : { alias }),
    summary: command.summary() || command.description(),
    description: command.description(),
    arguments: command.registeredArguments.map(argumentSlot),
    options: command.options.filter(({ hidden }) => !hidden).map(optionNode),
    commands: command
      .createHelp()
      .visibleCommands(command)
      .filter((each) => each.name() !== 'help')
      .map(readCommandTree),
  };
}

function argumentSlot(argument: Argument): ValueSlot {
  return {
    ...slotOf(argument.name(), argument.argChoices, argument.variadic),
    ...(argument.required ? {} : { optional: true }),
    summary: argument.description,
  };
}

function optionNode(option: Option): OptionNode {
  const [, name] = /[<[]([^<[>\]]+?)(?:\.\.\.)?[>\]]/.exec(option.flags) ?? [];
  const flags = [option.short, option.long].filter((flag) => flag !== undefined && flag !== null);
  const otherwise = option.defaultValueDescription ?? option.defaultValue;
  const value =
    name === undefined
      ? undefined
      : { ...slotOf(kindName(option, name), option.argChoices, option.variadic), name };
  return {
    flags,
    summary: option.description,
    ...(otherwise === undefined || otherwise === true ? {} : { otherwise: String(otherwise) }),
    ...(value === undefined ? {} : { value }),
  };
}

/** `--account <name>` takes an account. */
const kindName = ({ long }: Option, name: string): string => (long === '--account' ? 'account' : name);

function slotOf(name: string, choices: readonly string[] | undefined, variadic: boolean) {
  return {
    name,
    kind: choices === undefined ? (kinds[name] ?? 'other') : 'choice',
    ...(choices === undefined ? {} : { choices: [...choices] }),
    ...(variadic ? ({ repeatable: true } as const) : {}),
  };
}

const kinds: Readonly<Record<string, ValueKind>> = {
  run: 'run',
  account: 'account',
  campaign: 'file',
  file: 'file',
  folder: 'file',
};
