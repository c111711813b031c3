import { type CommandDefinition, isShown, type OptionSpec } from '../command.ts';
import { optionsOfAll } from '../global-options.ts';

/** A command that does something, by its words after `volley`. */
export type NamedCommand = { readonly name: string; readonly command: CommandDefinition };

/** The command reference in Markdown, from the program itself. */
export function commandsPage(listed: readonly NamedCommand[]): string {
  const shared = sharedRows(listed.map(({ command }) => rowsOf(command)));
  return [
    '# Commands',
    '',
    'This page lists every command, for people who know what they want to do. `volley <command> --help` and `man volley` print all of a command.',
    '',
    '## Options of every command',
    '',
    ...tableOf(optionsOfAll.map(optionRow)),
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

/** An argument, an option or an exit code, and what it means. */
type Row = readonly [name: string, text: string];

function rowsOf({ arguments: slots, options, exits }: CommandDefinition): Row[] {
  return [
    ...slots.filter(isShown).map(({ flags, summary }): Row => [`\`${flags}\``, summary]),
    ...options.filter(isShown).map(optionRow),
    ...Object.entries(exits).map(([code, text]): Row => [`exit code ${code}`, text]),
  ];
}

function optionRow({ flags, summary, reading }: OptionSpec): Row {
  const { choices, default: byDefault, defaultText = byDefault } = reading;
  const more = [
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(defaultText === undefined ? [] : [`default: ${defaultText}`]),
  ];
  return [`\`${flags}\``, [summary, ...more].join('; ')];
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

function section({ name, command }: NamedCommand, shared: ReadonlyMap<string, string>): string[] {
  const rows = rowsOf(command);
  const isShared = ([each, text]: Row): boolean => shared.get(each) === text;
  const named = new Set(rows.filter(isShared).map(([each]) => each));
  const exits = [...named].filter((each) => each.startsWith('exit'));
  const slots = command.arguments.filter(isShown).map(({ flags }) => flags);
  return [
    '',
    `## volley ${name}`,
    '',
    command.description,
    '',
    '```',
    ['volley', name, ...slots, ...synopsis(command, named)].join(' '),
    ...exampleLines(command),
    '```',
    ...listOf(tableOf(rows.filter((row) => !isShared(row)))),
    ...listOf(exits.length === 0 ? [] : [`Also ${exits.join(', ')}.`]),
  ];
}

/** The options that must be given, and the shared ones. */
function synopsis({ options }: CommandDefinition, shared: ReadonlySet<string>): string[] {
  const shown = options.filter(isShown);
  const required = shown.filter(({ reading }) => reading.required);
  const optional = shown.filter(({ flags, reading }) => !reading.required && shared.has(`\`${flags}\``));
  return [...required.map(({ flags }) => flags), ...optional.map(({ flags }) => `[${flags}]`)];
}

const listOf = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', ...lines]);

/** Examples with what they do as a comment, below the usage. */
function exampleLines({ examples }: CommandDefinition): string[] {
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
