import { expect, test } from 'vitest';
import { documentPaths, readDocument } from '../support/documents.ts';

const records = documentPaths.filter((path) => path.startsWith('docs/decisions/'));

test('the index in docs/architecture.md lists every decision record', () => {
  const listed = [...readDocument('docs/architecture.md').matchAll(/^\| \[\d{3}\]\((.+?)\) \|/gm)];
  expect(listed.map(([, path]) => `docs/${path}`)).toEqual(records);
});

test.each(records)('%s has its context, its decision and its consequences, in this order', (path) => {
  const headings = [...readDocument(path).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading ?? '');
  const expected = ['Context', 'Decision', 'Consequences'];
  expect(headings.filter((heading) => expected.includes(heading))).toEqual(expected);
});
