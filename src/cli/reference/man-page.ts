import type { CommandNode, OptionNode } from '../completion/command-tree.ts';
import { helpSections } from '../help-text.ts';
import { argumentText, optionText } from './commands-page.ts';

/** volley(1) in the man macros, from the program itself. */
export function manPage(root: CommandNode, version: string): string {
  return [
    `.TH VOLLEY 1 "" "volley ${version}" "Volley"`,
    '.SH NAME',
    `volley \\- ${plain(root.description.replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B volley',
    '.I command',
    '[\\fIoptions\\fR]',
    '.SH OPTIONS OF EVERY COMMAND',
    ...root.options.flatMap(optionEntry),
    '.SH COMMANDS',
    ...root.commands.flatMap((command) => commandEntry(command, [])),
    ...helpSections.flatMap(({ title, entries }) => [
      `.SH ${title.toUpperCase()}`,
      ...entries.flatMap(([name, text]) => ['.TP', `.B ${plain(name)}`, plain(text)]),
    ]),
    '.SH SEE ALSO',
    `The documents of the package: ${plain('docs/README.md')}`,
    '',
  ].join('\n');
}

function commandEntry(command: CommandNode, parents: readonly string[]): string[] {
  const path = [...parents, command.name];
  if (command.commands.length > 0) return command.commands.flatMap((each) => commandEntry(each, path));
  const usage = ['volley', ...path, ...command.arguments.map(argumentText)].join(' ');
  return [
    `.SS ${plain(usage)}`,
    plain(command.description),
    ...command.arguments.flatMap(({ name, summary }) => ['.TP', `.I ${plain(name)}`, plain(summary)]),
    ...command.options.flatMap(optionEntry),
    ...Object.entries(command.exits).flatMap(([code, text]) => ['.TP', `.B Exit code ${code}`, plain(text)]),
    ...command.examples.flatMap(([line, what]) => [
      '.PP',
      `Example: ${plain(what)}`,
      '.nf',
      `    ${plain(line)}`,
      '.fi',
    ]),
  ];
}

const optionEntry = (option: OptionNode): string[] => [
  '.TP',
  `.B ${plain(optionText(option))}`,
  plain(option.summary),
];

/** A backslash, a hyphen, and a point or quote that begins a line have a meaning in roff. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
}
