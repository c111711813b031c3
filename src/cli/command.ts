import type { ExitCode } from './exit-codes.ts';
import type { Shell } from './shell.ts';

/**
 * Commands as data: what help, reference, man page, completion and usage errors say of a command, and what it does.
 * `build-command.ts` makes commander parse it.
 */
export type Definition = CommandDefinition | GroupDefinition;

/** A command that does something. Its `run` imports what it needs, so that `--help` loads none of it. */
export type CommandDefinition = Texts & {
  readonly kind: 'command';
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Besides 0 (done), 1 (internal error) and 2 (bad input). */
  readonly exits: Exits;
  readonly examples: readonly Example[];
  /** A method, so that a command with typed arguments and options is one of these. */
  run(shell: Shell, given: readonly unknown[], options: object): Promise<void>;
};

type GroupDefinition = Texts & {
  readonly kind: 'group';
  readonly commands: Subcommands;
};

/** A command of a file of its own is loaded when it is called. */
type Subcommands = Readonly<
  Record<string, CommandDefinition | (() => Promise<{ readonly command: CommandDefinition }>)>
>;

export async function loadSubcommand(listed: Subcommands[string]): Promise<CommandDefinition> {
  return typeof listed === 'function' ? (await listed()).command : listed;
}

type Texts = {
  readonly description: string;
  /** Printed at the end of the help. */
  readonly details?: string;
};

type Exits = { readonly [Code in Exclude<ExitCode, 0 | 1 | 2>]?: string };

/** A whole command line, and what a user reaches with it. */
export type Example = readonly [line: string, what: string];

/** `Value` is what `run` gets. */
export type ArgumentSpec<Flags extends string = string, Value = unknown> = {
  /** `<run>`, `[run]` if it can be left out, `<address...>` for several. */
  readonly flags: Flags;
  readonly summary: string;
  readonly reading: Reading;
  /** Only the compiler reads it. */
  readonly type?: Value;
};

export type OptionSpec<Flags extends string = string, Value = unknown> = {
  /** `--limit <number>`, `--json`, `--no-open`, `-n, --lines <number>`, `--state <state...>`. */
  readonly flags: Flags;
  readonly summary: string;
  readonly reading: Reading;
  readonly type?: Value;
};

/** How a value is read, and when it may be given. Without `read`, `loadReader` and `choices`, it is a text. */
type Reading = {
  /** @throws InvalidArgumentError of commander */
  read?(text: string, before?: unknown): unknown;
  /** Loads a reader that needs a package, only if the command line has the option. */
  readonly loadReader?: () => Promise<(text: string) => unknown>;
  readonly choices?: readonly string[];
  readonly default?: unknown;
  /** The default, as a user would write it. */
  readonly defaultText?: string;
  readonly required?: true;
  /** The names of options that exclude this one. */
  readonly conflicts?: readonly string[];
  /** What to use instead. It works for one more version, and says so; help, reference and completion do not show it. */
  readonly retired?: string;
};

/** Whether help, reference and completion have it. */
export const isShown = ({ reading }: ArgumentSpec | OptionSpec): boolean => reading.retired === undefined;

type ValueOf<Flags extends string, How extends Reading> = How extends {
  read: (...parameters: never) => infer Value;
}
  ? Value
  : How extends { loadReader: () => Promise<(text: string) => infer Value> }
    ? Value
    : Repeated<Flags, How extends { choices: readonly (infer Word)[] } ? Word : string>;

type Repeated<Flags extends string, Value> = Flags extends `${string}...${string}` ? readonly Value[] : Value;

/** An option that is required or has a default always has a value. */
type Given<How extends Reading, Value> = How extends { required: true } | { default: unknown }
  ? Value
  : Value | undefined;

/** An option with a value. */
export function option<const Flags extends `${string}<${string}`, const How extends Reading = object>(
  flags: Flags,
  summary: string,
  reading?: How,
): OptionSpec<Flags, Given<How, ValueOf<Flags, How>>> {
  return { flags, summary, reading: reading ?? {} };
}

/** An option without a value. `--no-open` is true, unless it is given. */
export function flag<const Flags extends string>(
  flags: Flags,
  summary: string,
  reading: Pick<Reading, 'conflicts' | 'retired'> = {},
): OptionSpec<Flags, Flags extends `--no-${string}` ? boolean : true | undefined> {
  return { flags, summary, reading };
}

export function argument<const Flags extends string, const How extends Reading = object>(
  flags: Flags,
  summary: string,
  reading?: How,
): ArgumentSpec<
  Flags,
  | ValueOf<Flags, How>
  | (Flags extends `[${string}...]` ? never : Flags extends `[${string}` ? undefined : never)
> {
  return { flags, summary, reading: reading ?? {} };
}

type ArgumentValues<Specs extends readonly ArgumentSpec[]> = {
  readonly [Index in keyof Specs]: Specs[Index] extends ArgumentSpec<string, infer Value> ? Value : never;
};

/** The options that `run` gets, by their names: `--older-than <duration>` is `olderThan`. */
export type OptionValues<Specs extends readonly OptionSpec[]> = WithOptional<{
  [Spec in Specs[number] as NameOf<Spec['flags']>]: TypeOf<Spec>;
}>;

/** A value that can be undefined can be missing. */
type WithOptional<Values> = Flat<
  { readonly [Name in keyof Values as undefined extends Values[Name] ? never : Name]: Values[Name] } & {
    readonly [Name in keyof Values as undefined extends Values[Name] ? Name : never]?: Exclude<
      Values[Name],
      undefined
    >;
  }
>;
type Flat<Values> = { [Name in keyof Values]: Values[Name] };
type TypeOf<Spec> = Spec extends OptionSpec<string, infer Value> ? Value : never;
type NameOf<Flags extends string> = Flags extends `${string}--no-${infer Rest}`
  ? CamelCase<FirstWord<Rest>>
  : Flags extends `${string}--${infer Rest}`
    ? CamelCase<FirstWord<Rest>>
    : never;
type FirstWord<Text extends string> = Text extends `${infer Word} ${string}` ? Word : Text;
type CamelCase<Text extends string> = Text extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Text;

export function defineCommand<
  const Arguments extends readonly ArgumentSpec[] = readonly [],
  const Options extends readonly OptionSpec[] = readonly [],
>({
  arguments: specs,
  options,
  ...definition
}: Texts & {
  readonly arguments?: Arguments;
  readonly options?: Options;
  readonly exits?: Exits;
  readonly examples: readonly Example[];
  readonly run: (
    shell: Shell,
    given: ArgumentValues<Arguments>,
    options: OptionValues<Options>,
  ) => Promise<void>;
}): CommandDefinition {
  return {
    exits: {},
    ...definition,
    kind: 'command',
    arguments: specs ?? [],
    options: options ?? [],
  };
}

export function defineGroup(description: string, commands: Subcommands): GroupDefinition {
  return { kind: 'group', description, commands };
}

/** Thrown by `run` when of several arguments and options one is needed. */
export class MissingArgumentError extends Error {}
