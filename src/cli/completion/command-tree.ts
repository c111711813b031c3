import {
  type ArgumentSpec,
  type CommandDefinition,
  type Definition,
  type Example,
  loadSubcommand,
  type OptionSpec,
} from '../command.ts';

/** What a shell can suggest for a value. */
type ValueKind = 'run' | 'account' | 'file' | 'choice' | 'other';

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
  readonly default?: string;
  readonly required?: true;
  /** Missing for an option without a value. */
  readonly value?: Omit<ValueSlot, 'summary'>;
};

/** A command as help, reference, man page and completion show it. */
export type CommandNode = {
  readonly name: string;
  /** One line, for a list of commands. */
  readonly summary: string;
  readonly description: string;
  readonly arguments: readonly ValueSlot[];
  readonly options: readonly OptionNode[];
  readonly exits: CommandDefinition['exits'];
  readonly examples: readonly Example[];
  readonly commands: readonly CommandNode[];
};

/** @param summary of a command in the list of all commands */
export async function describeCommand(
  name: string,
  definition: Definition,
  summary?: string,
): Promise<CommandNode> {
  const { description } = definition;
  const isGroup = definition.kind === 'group';
  const subcommands = Object.entries(isGroup ? definition.commands : {}).map(async ([each, listed]) =>
    describeCommand(each, await loadSubcommand(listed)),
  );
  return {
    name,
    summary: summary ?? description,
    description,
    arguments: isGroup ? [] : definition.arguments.filter(isShown).map(describeArgument),
    options: isGroup ? [] : describeOptions(definition.options),
    exits: isGroup ? {} : definition.exits,
    examples: isGroup ? [] : definition.examples,
    commands: await Promise.all(subcommands),
  };
}

const isShown = ({ reading }: ArgumentSpec | OptionSpec): boolean => reading.retired === undefined;

function describeArgument({ flags, summary, reading: { choices } }: ArgumentSpec): ValueSlot {
  const { name, isRepeatable } = valueIn(flags) ?? { name: flags, isRepeatable: false };
  return {
    ...slotOf(name, name, { choices, isRepeatable }),
    ...(flags.startsWith('<') ? {} : { optional: true }),
    summary,
  };
}

export function describeOptions(options: readonly OptionSpec[]): OptionNode[] {
  return options.filter(isShown).map(describeOption);
}

function describeOption({ flags, summary, reading }: OptionSpec): OptionNode {
  const { choices, default: byDefault, defaultText = byDefault } = reading;
  const names = flags.split(/,? /).filter((word) => word.startsWith('-'));
  const value = valueIn(flags);
  return {
    flags: names,
    summary,
    ...(defaultText === undefined ? {} : { default: String(defaultText) }),
    ...(reading.required && { required: true }),
    ...(value === undefined
      ? {}
      : { value: slotOf(value.name, kindName(names, value.name), { choices, ...value }) }),
  };
}

/** The value in flags such as `--state <state...>`. */
function valueIn(flags: string): { readonly name: string; readonly isRepeatable: boolean } | undefined {
  const [, name, dots] = /[<[]([^<[>\]]+?)(\.\.\.)?[>\]]/.exec(flags) ?? [];
  return name === undefined ? undefined : { name, isRepeatable: dots !== undefined };
}

/** `--account <name>` takes an account. */
const kindName = (names: readonly string[], name: string): string =>
  names.includes('--account') ? 'account' : name;

function slotOf(
  name: string,
  kind: string,
  {
    choices,
    isRepeatable,
  }: { readonly choices: readonly string[] | undefined; readonly isRepeatable: boolean },
): Omit<ValueSlot, 'summary'> {
  return {
    name,
    kind: choices === undefined ? (kinds[kind] ?? 'other') : 'choice',
    ...(choices === undefined ? {} : { choices }),
    ...(isRepeatable ? { repeatable: true } : {}),
  };
}

const kinds: Readonly<Record<string, ValueKind>> = {
  run: 'run',
  account: 'account',
  campaign: 'file',
  file: 'file',
  folder: 'file',
};
