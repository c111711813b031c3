import type { CommandNode, OptionNode, ValueSlot } from './command-tree.ts';

export type Suggestion = { readonly word: string; readonly summary: string };

/** What can stand at the end of a command line. */
export type Completion =
  | { readonly kind: 'words'; readonly words: readonly Suggestion[] }
  | { readonly kind: 'runs' }
  | { readonly kind: 'accounts' }
  /** The shell knows its files best. */
  | { readonly kind: 'files' };

/** @param words the command line after `volley`; the last one is incomplete and can be empty */
export function complete(root: CommandNode, words: readonly string[]): Completion {
  const { command, options, given, waiting, position } = readWords(root, words.slice(0, -1));
  if (waiting?.value !== undefined) return completeValue(waiting.value);
  const current = words.at(-1) ?? '';
  if (current.startsWith('-')) {
    const [flag = '', ...value] = current.split('=');
    const option = value.length > 0 ? findOption(options, flag) : undefined;
    if (option?.value !== undefined) return prefixed(`${flag}=`, completeValue(option.value));
    return { kind: 'words', words: optionWords(options, given) };
  }
  if (command.commands.length > 0) return { kind: 'words', words: command.commands.map(commandWord) };
  const last = command.arguments.at(-1);
  const slot = command.arguments[position] ?? (last?.repeatable ? last : undefined);
  return slot === undefined ? { kind: 'words', words: optionWords(options, given) } : completeValue(slot);
}

type Read = {
  readonly command: CommandNode;
  readonly options: readonly OptionNode[];
  readonly given: ReadonlySet<OptionNode>;
  /** The option that the next word is the value of. */
  readonly waiting: OptionNode | undefined;
  /** How many arguments of the command are complete. */
  readonly position: number;
};

function readWords(root: CommandNode, words: readonly string[]): Read {
  let command = root;
  let options = root.options;
  let waiting: OptionNode | undefined;
  let position = 0;
  const given = new Set<OptionNode>();
  for (const word of words) {
    if (waiting !== undefined) {
      waiting = undefined;
    } else if (word.startsWith('-')) {
      const option = findOption(options, word.split('=')[0] ?? '');
      if (option === undefined) continue;
      given.add(option);
      if (option.value !== undefined && !word.includes('=')) waiting = option;
    } else {
      const next = command.commands.find(({ name }) => name === word);
      if (next === undefined) position += 1;
      else [command, options] = [next, [...next.options, ...root.options]];
    }
  }
  return { command, options, given, waiting, position };
}

const findOption = (options: readonly OptionNode[], flag: string): OptionNode | undefined =>
  options.find(({ flags }) => flags.includes(flag));

function completeValue({ kind, choices = [] }: Pick<ValueSlot, 'kind' | 'choices'>): Completion {
  if (kind === 'run') return { kind: 'runs' };
  if (kind === 'account') return { kind: 'accounts' };
  if (kind === 'file') return { kind: 'files' };
  return { kind: 'words', words: choices.map((word) => ({ word, summary: '' })) };
}

function prefixed(prefix: string, completion: Completion): Completion {
  if (completion.kind !== 'words') return completion;
  const words = completion.words.map(({ word, summary }) => ({ word: `${prefix}${word}`, summary }));
  return { kind: 'words', words };
}

const commandWord = ({ name, summary }: CommandNode): Suggestion => ({
  word: name,
  summary: firstClause(summary),
});

/** A shell shows one short line. */
const firstClause = (text: string): string => text.split(/[.;:]\s| \(|\.$/)[0]?.trim() ?? '';

function optionWords(options: readonly OptionNode[], given: ReadonlySet<OptionNode>): Suggestion[] {
  return options
    .filter((option) => !given.has(option) || option.value?.repeatable)
    .map(({ flags, summary }) => ({ word: flags.at(-1) ?? '', summary: firstClause(summary) }))
    .concat({ word: '--help', summary: 'print the help of this command' });
}
