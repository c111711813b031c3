import fc from 'fast-check';
import { SegmentedMessage } from 'sms-segments-calculator';
import { describe, expect, test } from 'vitest';
import { countSmsParts } from '../../../src/engine/plan/sms-parts.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { examples } from '../../support/examples.ts';

describe('countSmsParts', () => {
  test.each([
    ['0 to 160 GSM-7 characters are one part', ['', 'x', 'x'.repeat(160), 'é'.repeat(160)], 1],
    ['161 GSM-7 characters are two parts of 153', ['x'.repeat(161), 'x'.repeat(306)], 2],
    ['307 GSM-7 characters are three parts', ['x'.repeat(307)], 3],
    ['70 characters outside of GSM-7 are one part', ['ж'.repeat(70), `${'x'.repeat(69)}ж`], 1],
    ['71 characters outside of GSM-7 are two parts of 67', ['ж'.repeat(71), 'ж'.repeat(134)], 2],
    ['80 euro signs of two septets are one part', ['€'.repeat(80)], 1],
    ['81 euro signs are two parts', ['€'.repeat(81)], 2],
    [
      'a character that would be split over two parts needs another part',
      [`${'x'.repeat(152)}€${'x'.repeat(152)}`],
      3,
    ],
    [
      'an emoji that would be split over two parts needs another part',
      [`${'ж'.repeat(66)}😀${'ж'.repeat(66)}`],
      3,
    ],
  ] as const)('%s', (_, texts, parts) => {
    for (const text of texts) expect(countSmsParts(text)).toBe(parts);
  });

  test('character conversion can give fewer parts', () => {
    const text = `“${'x'.repeat(100)}”`;
    expect(countSmsParts(text)).toBe(2);
    expect(countSmsParts(text, true)).toBe(1);
  });

  test('character conversion that lengthens the text gives more parts', () => {
    expect(countSmsParts('½'.repeat(70))).toBe(1);
    expect(countSmsParts('½'.repeat(70), true)).toBe(2);
  });

  describe('countSmsParts agrees with the exact library', () => {
    const holds = (text: string, converted: boolean): void => {
      const { segmentsCount } = new SegmentedMessage(text, 'auto', converted);
      expect(countSmsParts(text, converted)).toBe(segmentsCount);
    };

    test('every GSM-7 character is counted as by the library', () => {
      const characters = Array.from({ length: 0x21_00 }, (_, code) => String.fromCharCode(code));
      const known = characters.filter((character) => {
        const { encodingName } = new SegmentedMessage(`x${character}`);
        return encodingName === 'GSM-7';
      });
      expect(known.length).toBe(137);
      for (const character of known) {
        // GSM-7 shows at 70 characters, and the septets at 159; longer texts follow below.
        for (const filling of [69, 70, 159, 160]) {
          holds('x'.repeat(filling) + character, false);
          holds('x'.repeat(filling) + character, true);
        }
      }
    });

    const pieces = [
      'abcdefghij',
      'x',
      '€',
      '{',
      '[[STOP]]',
      'é',
      'ж',
      '漢',
      '한',
      '😀',
      '🎉🎊',
      '🦰',
      '🤝',
      '👩‍👧',
      '🇳🇿',
      'e\u0301',
    ];
    const others = [
      'ก',
      'ำ',
      'क्षि',
      '\u200d',
      '\u1112',
      '\n',
      '\r\n',
      '\f',
      '“',
      '`',
      '½',
      '…',
      '\ud83d',
      '\ude00',
      '\0',
    ];
    const piece = fc.constantFrom(...pieces, ...others);

    test.each([70, 160, 153, 306, 67, 134])(
      'texts of about %i characters are counted as by the library',
      (border) => {
        const filled = fc.tuple(
          fc.constantFrom('x', 'é', 'ж', '漢'),
          fc.integer({ min: -12, max: 2 }),
          fc.array(piece, { maxLength: 5 }),
          fc.array(piece, { maxLength: 2 }),
        );
        fc.assert(
          fc.property(filled, fc.boolean(), ([filling, more, inside, end], converted) => {
            const half = filling.repeat((border + more) >> 1);
            holds([half, ...inside, half, ...end].join(''), converted);
          }),
          examples(120),
        );
      },
    );

    test('any text is counted as by the library', () => {
      const text = fc.oneof(
        fc.array(piece, { maxLength: 120 }).map((chosen) => chosen.join('')),
        fc.string({ unit: anyCharacter, maxLength: 330 }),
        fc.string({ unit: 'binary-ascii', maxLength: 330 }),
        fc.string({ unit: 'grapheme', maxLength: 200 }),
      );
      fc.assert(fc.property(text, fc.boolean(), holds), examples(800));
    });
  });
});
