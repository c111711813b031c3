import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { projectFolder, readDocument } from '../support/documents.ts';

/** Names of functions and types that had no plain meaning. */
const formerNames = [
  'untold',
  'unheard',
  'rememberer',
  'noteOf',
  'openPatience',
  'textJudge',
  'takeFromTheDead',
  'AccountDesk',
  'keepDuties',
  'waysGiven',
  'leftToOthers',
];

/** The first column of the glossary's last table, and the former names. */
const retired = [...readDocument('docs/glossary.md').matchAll(/^\| ~~(\w+)~~ \|/gm)]
  .map(([, word = '']) => word)
  .concat(formerNames);

const texts = ['src', 'test', 'migrations', 'campaigns', 'docs']
  .flatMap((folder) =>
    readdirSync(`${projectFolder}/${folder}`, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .filter((path) => /\.(ts|js|md|json|yaml)$/.test(path) && path !== 'docs/glossary.md')
  .concat('README.md')
  .filter((path) => path !== 'test/docs/words.test.ts')
  .map((path) => ({ path, text: readFileSync(`${projectFolder}/${path}`, 'utf8') }));

test('the glossary lists words that are not used', () => {
  expect(retired.length).toBeGreaterThan(10);
});

test.each(retired)('nothing says "%s"', (word) => {
  const pattern = new RegExp(`\\b${word}\\b`, 'i');
  const found = texts.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});
