import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeFormula } from '../../src/report/printable.ts';
import { anyCharacter } from '../support/any-character.ts';

const begins = ['=', '+', '-', '@', '\t', '\r', '\n', '\0', '\uFEFF', '＝', '＋', '－', '＠'];

describe('escapeFormula', () => {
  test.each(begins.map((begin) => [JSON.stringify(begin), begin]))(
    'a text that begins with %s is escaped',
    (_, begin) => {
      expect(escapeFormula(`${begin}cmd|' /C calc'!A0`)).toBe(`'${begin}cmd|' /C calc'!A0`);
    },
  );

  test('any text is escaped if a spreadsheet would run it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...begins), fc.string({ unit: anyCharacter }), (begin, rest) => {
        const text = escapeFormula(begin + rest);
        expect(text.startsWith("'") || /^[+-]\d+(\.\d+)?$/.test(text)).toBe(true);
      }),
    );
  });
});

test.each(['+64211234567', '-1.50', '0', '1.005', '-12345678901234567890.123'])(
  'the number %s stays unchanged',
  (number) => {
    expect(escapeFormula(number)).toBe(number);
  },
);

test.each(['+1+1', '-1e5', '+', '-', '--1', '+64 21 123', '-.5', '1\n'])(
  '%j is no plain number and is escaped if it could run',
  (text) => {
    expect(escapeFormula(text)).toBe(/^[+-]/.test(text) ? `'${text}` : text);
  },
);

test('other texts stay unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(!/^'*[=+\-@\t\r\n\0\uFEFF＝＋－＠]/.test(text));
      expect(escapeFormula(text)).toBe(text);
    }),
  );
});
