import type { CommandNode, OptionNode, ValueSlot } from '../completion/command-tree.ts';

/** The command reference in Markdown, from the program itself. */
export function commandsPage(root: CommandNode): string {
  const listed = root.commands.flatMap((command) => callable(command, []));
  const shared = sharedRows(listed.map(({ command }) => rowsOf(command)));
  return [
    '# Commands',
    '',
    'This page lists every command, for people who know what they want to do. `volley <command> --help` and `man volley` print all of a command.',
    '',
    '## Options of every command',
    '',
    ...tableOf(rowsOf(root)),
    '',
    '## Of several commands',
    '',
    'The first line of a command names those that it has. Every command can end with 0 (done), 1 (internal error) or 2 (bad input).',
    '',
    ...tableOf([...shared].toSorted()),
    ...listed.flatMap((each) => section(each, shared)),
    '',
  ].join('\n');
}

type Callable = { readonly name: string; readonly command: CommandNode };

/** A command, or the commands that it consists of. */
function callable(command: CommandNode, parents: readonly string[]): Callable[] {
  const path = [...parents, command.name];
  return command.commands.length > 0
    ? command.commands.flatMap((each) => callable(each, path))
    : [{ name: path.join(' '), command }];
}

/** An argument, an option or an exit code, and what it means. */
type Row = readonly [name: string, text: string];

function rowsOf({ arguments: slots, options, exits }: CommandNode): Row[] {
  return [
    ...slots.map((slot): Row => [`\`${argumentText(slot)}\``, slot.summary]),
    ...options.map((option): Row => [`\`${optionText(option)}\``, optionWords(option)]),
    ...Object.entries(exits).map(([code, text]): Row => [`exit code ${code}`, text]),
  ];
}

/** From so many commands on, a row is described once. */
const severalCommands = 2;

/** Of each name, the text that most commands have, if several have it. */
function sharedRows(commands: readonly (readonly Row[])[]): ReadonlyMap<string, string> {
  const counts = new Map<string, { readonly row: Row; count: number }>();
  for (const row of commands.flat()) {
    const counted = counts.get(row.join('\n')) ?? { row, count: 0 };
    counted.count += 1;
    counts.set(row.join('\n'), counted);
  }
  const several = [...counts.values()].filter(({ count }) => count >= severalCommands);
  return new Map(several.toSorted((one, other) => one.count - other.count).map(({ row }) => row));
}

function section({ name, command }: Callable, shared: ReadonlyMap<string, string>): string[] {
  const rows = rowsOf(command);
  const isShared = ([each, text]: Row): boolean => shared.get(each) === text;
  const named = new Set(rows.filter(isShared).map(([each]) => each));
  const exits = [...named].filter((each) => each.startsWith('exit'));
  return [
    '',
    `## volley ${name}`,
    '',
    command.description,
    '',
    '```',
    ['volley', name, ...command.arguments.map(argumentText), ...synopsis(command, named)].join(' '),
    ...exampleLines(command),
    '```',
    ...listOf(tableOf(rows.filter((row) => !isShared(row)))),
    ...listOf(exits.length === 0 ? [] : [`Also ${exits.join(', ')}.`]),
  ];
}

/** The options that must be given, and the shared ones. */
function synopsis({ options }: CommandNode, shared: ReadonlySet<string>): string[] {
  const required = options.filter((option) => option.required).map(optionText);
  const optional = options.filter((option) => !option.required && shared.has(`\`${optionText(option)}\``));
  return [...required, ...optional.map((option) => `[${optionText(option)}]`)];
}

const listOf = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', ...lines]);

/** Examples with what they do as a comment, below the usage. */
function exampleLines({ examples }: CommandNode): string[] {
  const width = Math.max(...examples.map(([line]) => line.length));
  return examples.map(([line, what]) => `${line.padEnd(width)}    # ${what}`);
}

/** Names with the same text share a line. */
function tableOf(rows: readonly Row[]): string[] {
  const texts = [...new Set(rows.map(([, text]) => text))];
  const lines = texts.map((text) => {
    const names = rows.filter((row) => row[1] === text).map(([name]) => name);
    return `| ${names.join(', ')} | ${text.replaceAll('|', '\\|')} |`;
  });
  return lines.length === 0 ? [] : ['| | |', '|---|---|', ...lines];
}

function optionWords({ summary, value, default: byDefault }: OptionNode): string {
  const more = [choicesText(value), byDefault === undefined ? '' : `default: ${byDefault}`];
  return [summary, ...more].filter(Boolean).join('; ');
}

const choicesText = (value: OptionNode['value']): string =>
  value?.choices === undefined ? '' : `one of ${value.choices.join(', ')}`;

export function optionText({ flags, value }: OptionNode): string {
  return `${flags.join(', ')}${value === undefined ? '' : ` <${value.name}${value.repeatable ? '...' : ''}>`}`;
}

export function argumentText({ name, optional, repeatable }: ValueSlot): string {
  const text = `${name}${repeatable ? '...' : ''}`;
  return optional ? `[${text}]` : `<${text}>`;
}
