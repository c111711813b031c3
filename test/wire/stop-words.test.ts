import { expect, test } from 'vitest';
import { observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { isStopWord } from '../../src/wire/delivery-report-values.ts';

const { stopWords } = observedMapping;

test.each(['STOP', 'stop', ' Stop.\n', 'STOP!!', 'stop !', 'Opt  out', 'opt\nout…', 'OPTOUT', 'Quit?'])(
  '%j is a stop word',
  (text) => {
    expect(isStopWord(text, stopWords)).toBe(true);
  },
);

test.each([
  '',
  '!',
  'please stop',
  'STOP it',
  'Nonstop',
  'S T O P',
  '.stop',
  'opt-out',
  'stopp',
  '__proto__',
])('%j is no stop word, because only a whole message is', (text) => {
  expect(isStopWord(text, stopWords)).toBe(false);
});

test('only the given stop words count, however they are written', () => {
  expect(isStopWord('taihoa', ['Taihoa !'])).toBe(true);
  expect(isStopWord('STOP', ['Taihoa'])).toBe(false);
  expect(isStopWord('', [''])).toBe(false);
  expect(isStopWord('...', ['!'])).toBe(false);
});

test('a message longer than any stop word is no stop word, whatever it contains', () => {
  expect(isStopWord(`STOP${'.'.repeat(500)}`, stopWords)).toBe(false);
  expect(isStopWord(`STOP${' '.repeat(500)}`, stopWords)).toBe(true);
});
