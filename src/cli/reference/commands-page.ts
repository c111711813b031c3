import type { CommandNode, OptionNode, ValueSlot } from '../completion/command-tree.ts';

/** The command reference in Markdown, from the program itself. */
export function commandsPage(root: CommandNode): string {
  const seen = new Map<string, string>();
  return [
    '# Commands',
    '',
    'This page lists every command, for people who know what they want to do. `volley <command> --help` and `man volley` print the same. Exit codes besides 0, 1 and 2 are listed with their command.',
    '',
    '## Options of every command',
    '',
    ...optionTable('', root.options, seen),
    ...root.commands.flatMap((command) => section(command, [], seen)),
    '',
  ].join('\n');
}

function section(command: CommandNode, parents: readonly string[], seen: Map<string, string>): string[] {
  const path = [...parents, command.name];
  if (command.commands.length > 0) return command.commands.flatMap((each) => section(each, path, seen));
  const name = path.join(' ');
  return [
    '',
    `## volley ${name}`,
    '',
    command.description,
    '',
    '```',
    ['volley', name, ...command.arguments.map(argumentText)].join(' '),
    ...exampleLines(command),
    '```',
    ...listOf(command.arguments.map((argument) => `- \`${argument.name}\`: ${argument.summary}`)),
    ...listOf(command.options.length > 0 ? optionTable(name, command.options, seen) : []),
    ...listOf(Object.entries(command.exits).map(([code, text]) => `- Exit code ${code}: ${text}`)),
  ];
}

const listOf = (lines: readonly string[]): readonly string[] => (lines.length === 0 ? [] : ['', ...lines]);

/** Examples with what they do as a comment, below the usage. */
function exampleLines({ examples }: CommandNode): string[] {
  const width = Math.max(...examples.map(([line]) => line.length));
  return examples.map(([line, what]) => `${line.padEnd(width)}    # ${what}`);
}

/** Shorter texts are easier to repeat than to look up. */
const shortText = 50;

/**
 * A long text that an earlier command has too is replaced by a link to that command.
 * @param seen the command of each long text so far
 */
function optionTable(
  command: string,
  options: readonly OptionNode[],
  seen: Map<string, string>,
): readonly string[] {
  const rows = options.map((option) => {
    const text = optionWords(option);
    const flags = `\`${optionText(option)}\``;
    const first = text.length > shortText ? seen.get(`${flags} ${text}`) : undefined;
    seen.set(`${flags} ${text}`, first ?? command);
    return {
      flags,
      text: first === undefined ? text : `as for [${first}](#volley-${first.replaceAll(' ', '-')})`,
    };
  });
  const texts = [...new Set(rows.map(({ text }) => text))];
  return [
    '| Option | |',
    '|---|---|',
    ...texts.map((text) => {
      const flags = rows.filter((row) => row.text === text).map((row) => row.flags);
      return `| ${flags.join(', ')} | ${text.replaceAll('|', '\\|')} |`;
    }),
  ];
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
