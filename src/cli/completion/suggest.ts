import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../platform/package-folder.ts';
import { printable } from '../../report/printable.ts';
import type { Shell } from '../shell.ts';
import type { CommandNode } from './command-tree.ts';
import { type Completion, complete, type Suggestion } from './complete.ts';

/** Shells insert a word as it is, so a name from a file must not have a space or a character that they act on. */
const safeWord = /^[\w.:@%+=,/-]+$/;

/** Lines for the scripts of `scripts.ts`. @param words the command line after `volley`, up to the cursor */
export async function suggest(shell: Shell, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const completion = complete(readTree(), words);
  if (completion.kind === 'files') return [':files'];
  return (await suggestionsFor(completion, shell))
    .filter(({ word }) => word.startsWith(current) && safeWord.test(word))
    .map(({ word, summary }) => `${word}\t${printable(summary)}`);
}

async function suggestionsFor(
  completion: Exclude<Completion, { readonly kind: 'files' }>,
  shell: Shell,
): Promise<readonly Suggestion[]> {
  if (completion.kind === 'words') return completion.words;
  // Another module, because words alone must not wait for Postgres.
  const names = await import('./ledger-names.ts');
  return completion.kind === 'runs' ? names.suggestRuns(shell) : names.suggestAccounts(shell);
}

/** Generated from the program, because reading one file takes less time than loading every command (`npm run docs`). */
function readTree(): CommandNode {
  const tree: CommandNode = JSON.parse(
    readFileSync(join(packageFolder, 'docs/reference/commands.json'), 'utf8'),
  );
  return tree;
}
