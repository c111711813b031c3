import type { CommandNode, OptionNode, ValueSlot } from '../completion/command-tree.ts';

/** The command reference in Markdown, from the program itself. */
export function commandsPage(root: CommandNode): string {
  return [
    '# Commands',
    '',
    'This page lists every command, for people who know what they want to do. It is generated from the help (`npm run docs`); `volley <command> --help` and `man volley` print the same.',
    '',
    '## Options of every command',
    '',
    ...optionTable(root.options),
    ...root.commands.flatMap((command) => section(command, [])),
    '',
  ].join('\n');
}

function section(command: CommandNode, parents: readonly string[]): string[] {
  const path = [...parents, command.name];
  if (command.commands.length > 0) return command.commands.flatMap((each) => section(each, path));
  const usage = [...path, ...command.arguments.map(argumentText)].join(' ');
  return [
    '',
    `## volley ${path.join(' ')}`,
    '',
    command.description,
    '',
    '```',
    `volley ${usage}`,
    '```',
    '',
    ...command.arguments.map(({ name, summary }) => `- \`${name}\`: ${summary}`),
    ...(command.arguments.length > 0 ? [''] : []),
    ...(command.options.length > 0 ? optionTable(command.options) : []),
    ...exitList(command),
    ...exampleList(command),
  ];
}

function exitList({ exits }: CommandNode): string[] {
  const lines = Object.entries(exits).map(([code, text]) => `- ${code}: ${text}`);
  return lines.length === 0 ? [] : ['', 'Exit codes besides 0, 1 and 2:', '', ...lines];
}

function exampleList({ examples }: CommandNode): string[] {
  const lines = examples.map(([line, what]) => `- \`${line}\`: ${what}`);
  return lines.length === 0 ? [] : ['', lines.length === 1 ? 'Example:' : 'Examples:', '', ...lines];
}

function optionTable(options: readonly OptionNode[]): string[] {
  return [
    '| Option | |',
    '|---|---|',
    ...options.map((option) => {
      const { summary, value, otherwise } = option;
      const more = [choicesText(value), otherwise === undefined ? '' : `default: ${otherwise}`];
      const text = [summary, ...more].filter(Boolean).join('; ');
      return `| \`${optionText(option)}\` | ${text.replaceAll('|', '\\|')} |`;
    }),
  ];
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
