import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { projectFolder, readDocument } from '../support/documents.ts';

/** The first column of the glossary's last table. */
const retired = [...readDocument('docs/glossary.md').matchAll(/^\| ~~(\w+)~~ \|/gm)].map(
  ([, word = '']) => word,
);

const texts = ['src', 'test', 'migrations', 'campaigns', 'docs']
  .flatMap((folder) =>
    readdirSync(`${projectFolder}/${folder}`, { recursive: true, encoding: 'utf8' }).map(
      (name) => `${folder}/${name}`,
    ),
  )
  .filter((path) => /\.(ts|js|md|json|yaml)$/.test(path) && path !== 'docs/glossary.md')
  .concat('README.md')
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
