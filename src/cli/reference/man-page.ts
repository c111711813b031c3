import { isShown } from '../command.ts';
import { optionsOfAll } from '../global-options.ts';
import { helpSections, purpose } from '../help-text.ts';
import type { NamedCommand } from './commands-page.ts';

export function manPage(commands: readonly NamedCommand[], version: string): string {
  return [
    `.TH VOLLEY 1 "" "volley ${version}" "Volley"`,
    '.SH NAME',
    `volley \\- ${plain(purpose.replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B volley',
    '.I command',
    '[\\fIoptions\\fR]',
    '.SH OPTIONS OF EVERY COMMAND',
    ...optionsOfAll.flatMap(({ flags, summary }) => entry('B', flags, summary)),
    '.SH COMMANDS',
    ...commands.flatMap(commandEntry),
    ...helpSections.flatMap(({ title, entries }) => [
      `.SH ${title.toUpperCase()}`,
      ...entries.flatMap(([name, text]) => entry('B', name, text)),
    ]),
    '.SH SEE ALSO',
    `The documents of the package: ${plain('docs/README.md')}`,
    '',
  ].join('\n');
}

function commandEntry({ name, command }: NamedCommand): string[] {
  const slots = command.arguments.filter(isShown);
  return [
    `.SS ${plain(['volley', name, ...slots.map(({ flags }) => flags)].join(' '))}`,
    plain(command.description),
    ...slots.flatMap(({ flags, summary }) => entry('I', flags.replaceAll(/[^\w-]/g, ''), summary)),
    ...command.options.filter(isShown).flatMap(({ flags, summary }) => entry('B', flags, summary)),
    ...Object.entries(command.exits).flatMap(([code, text]) => entry('B', `Exit code ${code}`, text)),
    ...command.examples.flatMap(([line, what]) => [
      '.PP',
      `Example: ${plain(what)}`,
      '.nf',
      `    ${plain(line)}`,
      '.fi',
    ]),
  ];
}

const entry = (font: 'B' | 'I', name: string, text: string): string[] => [
  '.TP',
  `.${font} ${plain(name)}`,
  plain(text),
];

/** A backslash, a hyphen, and a point or quote that begins a line have a meaning in roff. */
function plain(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
}
