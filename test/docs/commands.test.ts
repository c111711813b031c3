import { readdirSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { retiredCommands } from '../../src/cli/retired-commands.ts';
import {
  blocksOf,
  documentPaths,
  inlineCodesOf,
  type Piece,
  projectFolder,
  shellLinesOf,
} from '../support/documents.ts';
import { parseCommands } from '../support/shell-words.ts';
import { programFor, refusalOf } from './refusal.ts';

/** Options of other programs that the documents mention. */
const foreignOptions = new Set(['--no-install', '--omit']);

/** These print something, and are no errors. */
const prints = ['commander.version', 'commander.help', 'commander.helpDisplayed'];

/** A mention can leave these out; a command that the reader types cannot. */
const incomplete = [
  'commander.help',
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
  'commander.optionMissingArgument',
];

/** The arguments of `volley`, for every way to call it; undefined for another program. */
function volleyWords(words: readonly string[]): readonly string[] | undefined {
  const [first, second] = words;
  if (first === 'volley') return words.slice(1);
  if (first === 'npx' && second === '--no-install') return volleyWords(words.slice(2));
  if (first === 'env') return volleyWords(words.slice(second === '-u' ? 3 : 1));
  if (first === 'node' && second?.endsWith('/volley.js')) return words.slice(2);
  // The name of the image ends podman's own arguments.
  if (first === 'podman' && second === 'run') return words.slice(words.lastIndexOf('volley') + 1);
  return undefined;
}

/** Retired commands and options of a command line. */
async function retiredWays(words: readonly string[]): Promise<readonly string[]> {
  const program = await programFor(words);
  const optionsOf = (command: Command): Command['options'][number][] => [
    ...command.options,
    ...command.commands.flatMap(optionsOf),
  ];
  const options = optionsOf(program).filter(({ hidden }) => hidden);
  const names = [words.slice(0, 1).join(' '), words.slice(0, 2).join(' ')];
  return [
    ...names.filter((name) => Object.hasOwn(retiredCommands, name)),
    ...options.flatMap(({ long }) => (long && words.includes(long) ? [long] : [])),
  ];
}

const plainProgram = await programFor([]);
const commandNames = plainProgram.commands.map((each) => each.name());
const everyCommand = await Promise.all(
  commandNames.map(async (name) => {
    const { commands } = await programFor([name]);
    return commands.find((command) => command.name() === name) ?? new Command();
  }),
);
const groups = new Set(everyCommand.filter(({ commands }) => commands.length > 0).map((each) => each.name()));

const lines: readonly Piece[] = documentPaths
  .flatMap(blocksOf)
  .filter(({ language }) => language === 'sh' || language === 'cron')
  .flatMap(shellLinesOf);

const problemsOf = async (pieces: readonly Piece[], allowed: readonly string[] = []): Promise<string[]> => {
  const problems: string[] = [];
  for (const { where, text } of pieces)
    for (const { words } of parseCommands(text)) {
      const own = volleyWords(words);
      const refused = own?.length && (await refusalOf(own.filter((word) => !/^…$|^\[.*…\]$/.test(word))));
      if (refused && ![...prints, ...allowed].includes(refused.code))
        problems.push(`${where}: ${text}: ${refused.message}`);
      // Former versions had them.
      if (!own || where.startsWith('docs/CHANGELOG.md')) continue;
      for (const retired of await retiredWays(own)) problems.push(`${where}: ${text}: ${retired} is retired`);
    }
  return problems;
};

test('the program accepts every command line of every document', async () => {
  expect(
    lines.filter(({ text }) => parseCommands(text).some(({ words }) => volleyWords(words))).length,
  ).toBeGreaterThan(40);
  expect(
    await problemsOf(lines.map(({ where, text }) => ({ where, text: text.replace(/^(\S+ ){5} /, '') }))),
  ).toEqual([]);
});

describe('code between backticks', () => {
  const codes = documentPaths.flatMap(inlineCodesOf);

  test('names existing commands', async () => {
    const mentions = codes.flatMap(({ where, text }) => {
      const [first = '', second = ''] = text.split(' ');
      const isShort =
        commandNames.includes(first) &&
        (second.startsWith('--') || (groups.has(first) && /^[a-z]+$/.test(second)));
      return isShort
        ? [{ where, text: `volley ${text}` }]
        : /^(npx --no-install )?volley /.test(text)
          ? [{ where, text }]
          : [];
    });
    expect(mentions.length).toBeGreaterThan(80);
    expect(await problemsOf(mentions, incomplete)).toEqual([]);
  });

  test('of every text and comment of the program names existing commands', async () => {
    const mentions = readdirSync(`${projectFolder}/src`, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.startsWith('cli/reference/'))
      .flatMap((path) => {
        const source = readFileSync(`${projectFolder}/src/${path}`, 'utf8');
        const escaped = [...source.matchAll(/\\`(volley [^`\\\n]*)\\`/g)];
        const plain = [...source.matchAll(/(?<!\\)`(volley [^`$\\\n]*)`/g)];
        return [...escaped, ...plain].map(([, text = '']) => ({
          where: `src/${path}`,
          text: text.replaceAll(/\$\{[^}]*\}/g, 'x').replace('volley <command>', 'volley run'),
        }));
      });
    expect(mentions.length).toBeGreaterThan(150);
    // Values of options are not written out.
    expect(await problemsOf(mentions, [...incomplete, 'commander.invalidArgument'])).toEqual([]);
  });

  test('names options that a command has', async () => {
    const flagsOf = (command: Command): string[] => [
      ...command.options.flatMap(({ long }) => long ?? []),
      ...command.commands.flatMap(flagsOf),
    ];
    const known = new Set(
      [plainProgram, ...everyCommand].flatMap(flagsOf).concat('--help', '--version', ...foreignOptions),
    );
    const unknown = codes.flatMap(({ where, text }) =>
      [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => ({ where, flag })),
    );
    expect(unknown.length).toBeGreaterThan(80);
    expect(unknown.filter(({ flag }) => !known.has(flag))).toEqual([]);
  });

  test('names existing npm scripts', () => {
    const { scripts } = JSON.parse(readFileSync(`${projectFolder}/package.json`, 'utf8'));
    const named = [...codes, ...lines].flatMap(({ text }) =>
      [...text.matchAll(/\bnpm run ([\w-]+)/g)].map(([, name = '']) => name),
    );
    expect(named).toContain('demo');
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});
