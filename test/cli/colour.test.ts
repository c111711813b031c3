import { expect, test } from 'vitest';
import { plainScreen, wantsColour } from '../../src/report/screen.ts';
import { volleyInProcess } from '../support/volley.ts';

test('a terminal gets colours, unless NO_COLOR is set or it has none; a pipe gets none', () => {
  expect(wantsColour({ TERM: 'xterm-256color' }, true)).toBe(true);
  expect(wantsColour({ NO_COLOR: '' }, true)).toBe(true);
  expect(wantsColour({ NO_COLOR: '1' }, true)).toBe(false);
  expect(wantsColour({ TERM: 'dumb' }, true)).toBe(false);
  expect(wantsColour({}, false)).toBe(false);
});

test.each([
  [['plan', '--check', 'none.yaml'], plainScreen, false],
  [['plan', '--check', 'none.yaml'], { width: 80, colour: true }, true],
  [['plan', '--check', 'none.yaml', '--color', 'always'], plainScreen, true],
  [['--color', 'never', 'plan', '--check', 'none.yaml'], { width: 80, colour: true }, false],
  [['--color', 'auto', 'plan', '--check', 'none.yaml'], { width: 80, colour: true }, true],
])('%j on a terminal or not has the colours that --color asks for', async (words, screen, coloured) => {
  const { code, stderr } = await volleyInProcess(words, { screen });
  expect(code).toBe(2);
  expect(stderr.includes('\u001b[31mnone.yaml\u001b[39m: ')).toBe(coloured);
});

test('--color with an unknown word is refused with the known words', async () => {
  const { code, stderr } = await volleyInProcess(['runs', '--color', 'blue']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('expected auto, always or never')]);
});
