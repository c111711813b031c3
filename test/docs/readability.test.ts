import { expect, test } from 'vitest';
import { documentPaths } from '../support/documents.ts';
import { countWords, limits, readabilityOf, readPaths, readText, sentencesOf } from './readability.ts';

const texts = readPaths.map((path) => ({ path, text: readText(path) }));

test('every document has sentences', () => {
  expect(texts.filter(({ text }) => sentencesOf(text).length === 0)).toEqual([]);
});

test(`no document has more than ${limits.meanSentence} words in a sentence on average`, () => {
  const found = texts.map(({ path, text }) => ({ path, mean: readabilityOf(text).meanSentence }));
  expect(found.filter(({ mean }) => mean > limits.meanSentence)).toEqual([]);
});

test(`no document has a sentence of more than ${limits.longestSentence} words`, () => {
  const found = texts.flatMap(({ path, text }) =>
    sentencesOf(text).map((sentence) => ({ path, ...sentence })),
  );
  expect(found.filter(({ length }) => length > limits.longestSentence)).toEqual([]);
});

test(`every document has a Flesch reading ease of at least ${limits.ease}`, () => {
  const found = texts.map(({ path, text }) => ({ path, ease: readabilityOf(text).ease }));
  expect(found.filter(({ ease }) => ease < limits.ease)).toEqual([]);
});

test(`all documents together have at most ${limits.allWords} words`, () => {
  const counted = documentPaths.map((path) => countWords(readText(path)));
  expect(counted.reduce((sum, words) => sum + words, 0)).toBeLessThanOrEqual(limits.allWords);
});
