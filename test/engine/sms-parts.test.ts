import fc from 'fast-check';
import { SegmentedMessage } from 'sms-segments-calculator';
import { describe, expect, test } from 'vitest';
import { countSmsParts } from '../../src/engine/sms-parts.ts';

describe('an SMS is sent in', () => {
  test.each([
    [
      'one part, when it is empty or has up to 160 characters of GSM-7',
      ['', 'x', 'x'.repeat(160), 'é'.repeat(160)],
      1,
    ],
    ['two parts of 153 from then on', ['x'.repeat(161), 'x'.repeat(306)], 2],
    ['three with 307', ['x'.repeat(307)], 3],
    ['one part with 70 characters outside of GSM-7', ['ж'.repeat(70), `${'x'.repeat(69)}ж`], 1],
    ['two parts of 67 from then on', ['ж'.repeat(71), 'ж'.repeat(134)], 2],
    ['one part, where the euro takes two places', ['€'.repeat(80)], 1],
    ['two, where it does and there is no room', ['€'.repeat(81)], 2],
    ['one more, where a character would be cut in two', [`${'x'.repeat(152)}€${'x'.repeat(152)}`], 3],
    ['one more, where an emoji would be', [`${'ж'.repeat(66)}😀${'ж'.repeat(66)}`], 3],
  ] as const)('%s', (_, texts, parts) => {
    for (const text of texts) expect(countSmsParts(text)).toBe(parts);
  });

  test('fewer parts, where the service converts the characters that are outside', () => {
    const text = `“${'x'.repeat(100)}”`;
    expect(countSmsParts(text)).toBe(2);
    expect(countSmsParts(text, true)).toBe(1);
  });

  test('as many parts as the exact library counts, whatever the text', () => {
    const piece = fc.constantFrom('abcdefghij', 'x', '€', '{', 'é', 'ж', '😀', '\n', '“', '`');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 120 }), fc.boolean(), (pieces, converted) => {
        const text = pieces.join('');
        expect(countSmsParts(text, converted)).toBe(
          new SegmentedMessage(text, 'auto', converted).segmentsCount,
        );
      }),
      { numRuns: 2000 },
    );
  });
});
