import { describe, expect, test } from 'vitest';
import { limits, readabilityOf, readPaths, readText, sentencesOf } from './readability.ts';

describe('sentencesOf', () => {
  test('headings, tables and code blocks are not read', () => {
    const markdown =
      '# A heading\n\nOne sentence. And another one.\n\n| a | b |\n|---|---|\n| c | d |\n\n```sh\nls\n```\n';
    expect(sentencesOf(markdown).map(({ text }) => text)).toEqual(['One sentence.', 'And another one.']);
  });

  test('each list item ends a sentence, also without a full stop', () => {
    const markdown = 'It does this:\n\n- one thing\n- [another](b.md) thing\n  - and a third\n';
    expect(sentencesOf(markdown).map(({ length }) => length)).toEqual([3, 2, 2, 3]);
  });

  test('code between backticks counts as one word', () => {
    expect(sentencesOf('Run `volley run campaigns/a.yaml` **now**.')).toEqual([
      { text: 'Run Code now.', length: 3 },
    ]);
  });
});

test('readabilityOf computes the Flesch reading ease', () => {
  const { words, meanSentence, ease } = readabilityOf('The cat sat on the mat. The dog ran to the cat.');
  expect({ words, meanSentence }).toEqual({ words: 12, meanSentence: 6 });
  expect(ease).toBeCloseTo(206.835 - 1.015 * 6 - 84.6);
});

describe.each(readPaths)('%s', (path) => {
  const { meanSentence, ease } = readabilityOf(readText(path));

  test(`has at most ${limits.meanSentence} words in a sentence on average`, () => {
    expect(meanSentence).toBeLessThanOrEqual(limits.meanSentence);
  });

  test(`has no sentence of more than ${limits.longestSentence} words`, () => {
    const tooLong = sentencesOf(readText(path)).filter(({ length }) => length > limits.longestSentence);
    expect(tooLong).toEqual([]);
  });

  test(`has a Flesch reading ease of at least ${limits.ease}`, () => {
    expect(ease).toBeGreaterThanOrEqual(limits.ease);
  });
});
