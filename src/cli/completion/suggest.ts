import { printable } from '../../report/printable.ts';
import { type ArgumentSpec, type Definition, isShown, loadSubcommand, type OptionSpec } from '../command.ts';
import { commandList } from '../command-list.ts';
import { optionsOfAll } from '../global-options.ts';
import type { Shell } from '../shell.ts';
import type { Suggestion } from './ledger-names.ts';

/** Shells insert a word as it is, so a name from a file must not have a space or a character that they act on. */
const safeWord = /^[\w.:@%+=,/-]+$/;

/** The shell knows its files best. */
const files = 'files';

/** Lines for the scripts of `scripts.ts`. @param words the command line after `volley`, up to the cursor */
export async function suggest(shell: Shell, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const suggestions = await suggestionsFor(shell, await readWords(words.slice(0, -1)), current);
  if (suggestions === files) return [':files'];
  return suggestions
    .filter(({ word }) => word.startsWith(current) && safeWord.test(word))
    .map(({ word, summary }) => `${word}\t${printable(summary)}`);
}

/** What stands before the cursor. */
type Line = {
  /** Undefined before the name of a command. */
  readonly command: Definition | undefined;
  readonly options: readonly OptionSpec[];
  readonly given: ReadonlySet<OptionSpec>;
  /** The option that the next word is the value of. */
  readonly waiting: OptionSpec | undefined;
  /** How many arguments of the command are complete. */
  readonly position: number;
};

async function readWords(words: readonly string[]): Promise<Line> {
  let command: Definition | undefined;
  let options = optionsOfAll;
  let waiting: OptionSpec | undefined;
  let position = 0;
  const given = new Set<OptionSpec>();
  for (const word of words) {
    if (waiting !== undefined) {
      waiting = undefined;
    } else if (word.startsWith('-')) {
      const option = findOption(options, word.split('=')[0] ?? '');
      if (option === undefined) continue;
      given.add(option);
      if (takesValue(option) && !word.includes('=')) waiting = option;
    } else {
      const next = await findCommand(command, word);
      if (next === undefined) position += 1;
      else if (next.kind === 'command') options = [...next.options.filter(isShown), ...options];
      command = next ?? command;
    }
  }
  return { command, options, given, waiting, position };
}

async function findCommand(above: Definition | undefined, word: string): Promise<Definition | undefined> {
  if (above?.kind === 'command') return undefined;
  if (!Object.hasOwn(above?.commands ?? commandList, word)) return undefined;
  const listed = above?.commands[word];
  return listed === undefined ? (await commandList[word]?.load())?.command : loadSubcommand(listed);
}

async function suggestionsFor(
  shell: Shell,
  { command, options, given, waiting, position }: Line,
  current: string,
): Promise<readonly Suggestion[] | typeof files> {
  if (waiting !== undefined) return valuesOf(shell, waiting);
  if (current.startsWith('-')) {
    const [flag = ''] = current.split('=');
    const option = current.includes('=') ? findOption(options, flag) : undefined;
    if (option === undefined || !takesValue(option)) return optionWords(options, given);
    const values = await valuesOf(shell, option);
    return values === files ? files : values.map((each) => ({ ...each, word: `${flag}=${each.word}` }));
  }
  if (command?.kind !== 'command') return commandWords(command);
  const slots = command.arguments.filter(isShown);
  const last = slots.at(-1);
  const slot = slots[position] ?? (last && isRepeatable(last) ? last : undefined);
  return slot === undefined ? optionWords(options, given) : valuesOf(shell, slot);
}

async function commandWords(above: Definition | undefined): Promise<readonly Suggestion[]> {
  const subcommands = above?.kind === 'group' ? above.commands : {};
  const words =
    above === undefined
      ? Object.entries(commandList).map(([word, { summary }]) => ({ word, summary }))
      : await Promise.all(
          Object.entries(subcommands).map(async ([word, listed]) => {
            return { word, summary: (await loadSubcommand(listed)).description };
          }),
        );
  return words.map(({ word, summary }) => ({ word, summary: firstClause(summary) }));
}

function optionWords(options: readonly OptionSpec[], given: ReadonlySet<OptionSpec>): Suggestion[] {
  return options
    .filter((option) => !given.has(option) || isRepeatable(option))
    .map((option) => ({ word: namesOf(option).at(-1) ?? '', summary: firstClause(option.summary) }))
    .concat({ word: '--help', summary: 'print the help of this command' });
}

/** Names from the ledger or a file are in another module, because words alone must not wait for Postgres. */
async function valuesOf(
  shell: Shell,
  spec: ArgumentSpec | OptionSpec,
): Promise<readonly Suggestion[] | typeof files> {
  const { choices } = spec.reading;
  if (choices !== undefined) return choices.map((word) => ({ word, summary: '' }));
  const [, name] = /[<[]([^<[>\].]+)/.exec(spec.flags) ?? [];
  const isAccount = name === 'account' || namesOf(spec).includes('--account');
  if (isAccount) return (await import('./ledger-names.ts')).suggestAccounts(shell);
  if (name === 'run') return (await import('./ledger-names.ts')).suggestRuns(shell);
  return ['campaign', 'file', 'folder'].includes(name ?? '') ? files : [];
}

const namesOf = ({ flags }: ArgumentSpec | OptionSpec): string[] =>
  flags.split(/,? /).filter((word) => word.startsWith('-'));

const findOption = (options: readonly OptionSpec[], flag: string): OptionSpec | undefined =>
  options.find((option) => namesOf(option).includes(flag));

const takesValue = ({ flags }: OptionSpec): boolean => flags.includes('<');

const isRepeatable = ({ flags }: ArgumentSpec | OptionSpec): boolean => flags.includes('...');

/** A shell shows one short line. */
const firstClause = (text: string): string => text.split(/[.;:]\s| \(|\.$/)[0]?.trim() ?? '';
