import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';

/** Sentences of the terminal that stand elsewhere too, and why. */
const standTwice: Readonly<Record<string, string>> = {
  'The file cannot be written (': 'files of a result and of a new project; no words about a run',
  'the service refused the credential': 'an exit code in the help, and a log',
  'this module must run in a worker thread': 'for programmers',
};

/** Texts in a part of a syntax tree that are fixed in the program; names of imported files are none. */
function textsIn(part: unknown): readonly string[] {
  if (Array.isArray(part)) return part.flatMap(textsIn);
  if (typeof part !== 'object' || part === null) return [];
  const { type, value }: { type?: unknown; value?: unknown } = part;
  if (type === 'ImportDeclaration') return [];
  if (type === 'Literal') return typeof value === 'string' ? [value] : [];
  if (type === 'TemplateElement') return [String(Reflect.get(Object(value), 'cooked'))];
  return Object.values(part).flatMap(textsIn);
}

const sentencesOf = (program: unknown): readonly string[] =>
  textsIn(program).flatMap((text) => text.split(/(?<=[.;:!?])\s+/).map((sentence) => sentence.trim()));

/** Shorter ones are the same by chance. */
const minWords = 5;

const isSentence = (text: string): boolean =>
  !text.startsWith('<!') && text.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length >= minWords;

const src = fileURLToPath(new URL('../../src', import.meta.url));
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'));

/** The files of each sentence of the program. */
const files = new Map<string, Set<string>>();
for (const path of sources)
  for (const sentence of sentencesOf(parseAst(readFileSync(join(src, path), 'utf8'), { lang: 'ts' })))
    if (isSentence(sentence)) files.set(sentence, (files.get(sentence) ?? new Set()).add(path));

const isOfTerminal = (path: string): boolean =>
  path.startsWith('cli/') || (path.startsWith('report/') && !path.startsWith('report/lists/'));

test('a sentence that the terminal or a report prints stands in one file, and pages, API and logs take it from there', () => {
  const several = [...files]
    .filter(([, paths]) => paths.size > 1 && [...paths].some(isOfTerminal))
    .map(([sentence, paths]) => [sentence, [...paths].toSorted()]);
  expect(several.filter(([sentence]) => !Object.hasOwn(standTwice, String(sentence)))).toEqual([]);
  expect(several.length).toBe(Object.keys(standTwice).length);
});
