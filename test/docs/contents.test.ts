import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, documentPaths, projectFolder, readDocument } from '../support/documents.ts';

const pages = documentPaths.filter(
  (path) => path.startsWith('docs/') && path !== 'docs/README.md' && !path.startsWith('docs/decisions/'),
);

test('docs/README.md lists every page once, with its reader and purpose', () => {
  const rows = [
    ...readDocument('docs/README.md').matchAll(/^\| \[[^\]]+\]\(([^)]+)\) \| [^|]+ \| [^|]+ \|$/gm),
  ];
  const listed = rows.map(([, link = '']) => join(dirname('docs/README.md'), link));
  expect(listed.filter((path) => !path.startsWith('docs/decisions/')).toSorted()).toEqual(pages.toSorted());
});

test.each(pages)('%s says in its first sentence what it is for, and for whom', (path) => {
  const [, first = ''] = /^# .+\n\n([^.]+)\./.exec(readDocument(path)) ?? [];
  expect(first).toMatch(/^This page (shows|lists|explains|defines|leads),? /);
});

test('README.md has at most 150 lines', () => {
  expect(readDocument('README.md').split('\n').length).toBeLessThanOrEqual(150);
});

test('the changelog begins with the version of the package', () => {
  const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));
  expect(/^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$/m.exec(readDocument('docs/CHANGELOG.md'))?.[1]).toBe(version);
});

test('documents install the file of the package in its version', () => {
  const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'));
  const named = documentPaths.flatMap((path) => [
    ...readDocument(path).matchAll(/volley-engine-volley-([\d.]+)\.tgz/g),
  ]);
  expect(new Set(named.map(([, found]) => found))).toEqual(new Set([version]));
});

test('commands are in blocks that tests type: sh and cron', () => {
  const others = documentPaths
    .flatMap(blocksOf)
    .filter(({ language }) => /^(bash|shell|console|zsh|fish)$/.test(language));
  expect(others).toEqual([]);
});
