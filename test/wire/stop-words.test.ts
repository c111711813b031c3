import { expect, test } from 'vitest';
import { observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { isStopWord } from '../../src/wire/stop-words.ts';

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
])('%j is none: only the whole message is', (text) => {
  expect(isStopWord(text, stopWords)).toBe(false);
});

test('stop words are those that are given, however they are written', () => {
  expect(isStopWord('taihoa', ['Taihoa !'])).toBe(true);
  expect(isStopWord('STOP', ['Taihoa'])).toBe(false);
  expect(isStopWord('', [''])).toBe(false);
  expect(isStopWord('...', ['!'])).toBe(false);
});

test('a message longer than any stop word is none, whatever it holds', () => {
  expect(isStopWord(`STOP${'.'.repeat(500)}`, stopWords)).toBe(false);
  expect(isStopWord(`STOP${' '.repeat(500)}`, stopWords)).toBe(true);
});
