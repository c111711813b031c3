import { expect, test } from 'vitest';
import { firstUnsupportedCharacter, replaceUnsupportedCharacters } from '../../src/wire/characters.ts';

/** Written by hand from the production `Char` of XML 1.0. */
const carriable = [
  '\t',
  '\n',
  '\r',
  ' ',
  '\u007f',
  '\u0085',
  '\u009f',
  '\u00a0',
  '\u2028',
  '\ud7ff',
  '\ue000',
  '\ufffd',
  '💸',
  '\u{10ffff}',
];
const forbidden = ['\0', '\u0001', '\u0008', '\u000b', '\u000c', '\u000e', '\u001f', '\ufffe', '\uffff'];

test('XML carries every character except those that its specification excludes', () => {
  for (const character of carriable)
    expect(firstUnsupportedCharacter('xml', `a${character}b`)).toBeUndefined();
  for (const character of forbidden)
    expect(firstUnsupportedCharacter('xml', `a${character}b`)).toMatch(/^U\+[0-9A-F]{4}$/);
});

test('JSON carries every character', () => {
  for (const character of [...carriable, ...forbidden])
    expect(firstUnsupportedCharacter('json', character)).toBeUndefined();
});

test('no format carries a lone surrogate', () => {
  for (const format of ['json', 'xml'] as const) {
    expect(firstUnsupportedCharacter(format, '\ud83d')).toBe('U+D83D');
    expect(firstUnsupportedCharacter(format, 'x\udcb8')).toBe('U+DCB8');
  }
});

test('an answer has a question mark instead of each character that XML cannot carry', () => {
  expect(replaceUnsupportedCharacters('a\u0007b\uffffc\u0085')).toBe('a?b?c\u0085');
  expect(
    firstUnsupportedCharacter('xml', replaceUnsupportedCharacters(`${forbidden.join('')}\ud83d`)),
  ).toBeUndefined();
});
