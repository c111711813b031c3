import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../../../src/campaign/placeholders.ts';
import type { SmsCause } from '../../../src/domain/sms.ts';
import { createCauseReader } from '../../../src/engine/plan/sms-causes.ts';
import { countSmsParts, isGsmText, isInSeptets } from '../../../src/engine/plan/sms-parts.ts';
import { createRewriter, scriptOf } from '../../../src/engine/plan/sms-rewriting.ts';
import { messageFields } from '../../../src/wire/fields.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { examples } from '../../support/examples.ts';

const columns = ['name', 'town'];
const filling = 'x'.repeat(120);

/** The costly characters of a message for one contact. */
function causesOf(message: string, values: Readonly<Record<string, string>> = {}, converts = false) {
  const { template } = parseTemplate(message, (name) => {
    if (columns.includes(name)) return { kind: 'column', column: name };
    return { kind: name === 'STOP' ? 'service' : 'unknown' };
  });
  const [definition] = messageFields('rest-2.02', 'sms').filter(({ name }) => name === 'Message');
  if (!definition) throw new Error('an SMS has a Message');
  const readCauses = createCauseReader({ serviceText: { definition, template }, derived: new Map() });
  const text = message.replace(/\[\[(name|town)(?:\|([^\]]*))?\]\]/g, (_, name: string, fallback = '') => {
    return values[name] || fallback;
  });
  const sms = { text, parts: countSmsParts(text, converts) };
  const found = readCauses((column) => values[column] ?? '', sms, converts);
  // Then the values are not needed.
  if (Object.values(values).every(isInSeptets)) expect(readCauses(undefined, sms, converts)).toEqual(found);
  return found;
}

const character = (written: string, instead: string, column: string | null = null) => {
  return { kind: 'character', character: written, instead, column };
};

describe('the characters that cost SMS parts', () => {
  test('an emoji that forces UCS-2 is named with the parts that it costs', () => {
    expect(causesOf(`${filling}🎉`)).toEqual({
      encoding: 'UCS-2',
      causes: [character('🎉', '')],
      partsMore: 1,
    });
  });

  test('a character that costs no part is not named', () => {
    expect(causesOf('Hello 🎉')).toBeUndefined();
    expect(causesOf('x'.repeat(161))).toBeUndefined();
    expect(causesOf(`${'x'.repeat(200)}é€`)).toBeUndefined();
  });

  test('characters of the message and those of values are named with their places', () => {
    expect(causesOf(`${filling}’[[name]]`, { name: 'Zoë' })?.causes).toEqual([
      character('ë', 'e', 'name'),
      character('’', "'"),
    ]);
    expect(causesOf(`${filling}’[[name]]`, { name: 'Bob’s' })?.causes).toEqual([
      character('’', "'"),
      character('’', "'", 'name'),
    ]);
  });

  test('a fallback is text of the message', () => {
    expect(causesOf(`${filling}[[name|señor·]]`, { name: '' })?.causes).toEqual([character('·', '-')]);
  });

  test('a character in two columns is named for each', () => {
    const found = causesOf(`${filling}[[name]][[town]]`, { name: 'Ōta', town: 'Ōtaki ş' });
    expect(found?.causes).toEqual([
      character('Ō', 'O', 'name'),
      character('Ō', 'O', 'town'),
      character('ş', 's', 'town'),
    ]);
  });

  test('letters of another script are named together, and counted as letters of GSM-7', () => {
    expect(causesOf(`${filling}[[name]]`, { name: 'Олег' })).toEqual({
      encoding: 'UCS-2',
      causes: [{ kind: 'letters', script: 'Cyrillic', column: 'name' }],
      partsMore: 1,
    });
  });

  test('a GSM-7 character of two septets is named if it costs a part', () => {
    expect(causesOf(`${'x'.repeat(158)}{}`)).toEqual({
      encoding: 'GSM-7',
      causes: [character('{', '('), character('}', ')')],
      partsMore: 1,
    });
    expect(causesOf(`${'x'.repeat(158)}{`)).toBeUndefined();
  });

  test("brackets of the service's placeholders are not named", () => {
    expect(causesOf(`${'x'.repeat(153)}[[STOP]]`)).toBeUndefined();
  });

  test('with character conversion only what the service cannot convert is named', () => {
    expect(causesOf(`${filling}’ Zoë`, {}, true)?.causes).toEqual([character('ë', 'e')]);
    expect(causesOf(`${filling}’`, {}, true)).toBeUndefined();
  });
});

test.each([
  ["' for each single quote", '‘’‚', "'',"],
  ['" for each double quote', '“”„«»', '"""""'],
  ['- for dashes and bullets', '–—‑−•', '-----'],
  ['... for an ellipsis', '…', '...'],
  ['a space for other spaces and tabs', '\u00a0\u202f\u2009\t\u3000', '     '],
  ['nothing for invisible characters', '\u200b\ufeff\u00ad', ''],
  ['letters without their accents', 'áçşāőễŁø', 'acsaoeLø'],
  ['a composed letter', 'e\u0301', 'é'],
  ['two letters for a ligature', 'œﬁ', 'oefi'],
  ['nothing for emoji of several code points', '👩‍👧🇳🇿👍🏽❤️', ''],
  ['the digit of a keycap', '1️⃣', '1'],
])('what to write instead: %s', (_, written, instead) => {
  expect(createRewriter()(written, 'UCS-2').text).toBe(instead);
});

test('without the named characters every text is GSM-7, and as written instead too', () => {
  const rewrite = createRewriter();
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 8 }),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom(
      'plain',
      'é',
      'e\u0301',
      '👩‍👧',
      '…',
      'Олег',
      '漢字',
      'حبيب',
      'ก็',
      '\u0301',
      '1️⃣',
      '[',
      '€',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join('').toWellFormed();
      const { text: rewritten, causes } = rewrite(text, 'UCS-2');
      expect(isGsmText(rewritten)).toBe(true);
      expect(isGsmText(causes.toSorted(longestFirst).reduce(without, text))).toBe(true);
    }),
    examples(500),
  );
});

/** A mark may be named alone and after a letter. */
const longestFirst = (one: SmsCause, other: SmsCause): number => lengthOf(other) - lengthOf(one);
const lengthOf = (cause: SmsCause): number => (cause.kind === 'character' ? cause.character.length : 0);

const graphemes = new Intl.Segmenter('en');

function without(text: string, cause: SmsCause): string {
  if (cause.kind === 'character') return text.replaceAll(cause.character, '');
  const letters = Array.from(graphemes.segment(text), ({ segment }) => segment);
  return letters.filter((letter) => scriptOf(letter) !== cause.script).join('');
}

test('a text has exactly as many parts more as its causes say', () => {
  const rewrite = createRewriter();
  const word = fc.constantFrom(
    'x',
    'hello ',
    '’',
    '…',
    '🎉',
    'ë',
    '[',
    '€',
    'Ж',
    '[[STOP]]',
    '[[name]]',
    '[[town|–]]',
  );
  const value = fc.constantFrom('', 'Ann', 'Zoë', '…', '{}', '🎉'.repeat(20), 'y'.repeat(90));
  fc.assert(
    fc.property(fc.array(word, { maxLength: 60 }), value, value, (words, name, town) => {
      const message = `${filling}${words.join('')}`;
      const found = causesOf(message, { name, town });
      if (found) expect(found.causes.length).toBeGreaterThan(0);
      const text = message.replaceAll('[[name]]', () => name).replaceAll('[[town|–]]', () => town || '–');
      const encoding = isGsmText(text) ? 'GSM-7' : 'UCS-2';
      const rewritten = text
        .split('[[STOP]]')
        .map((between) => rewrite(between, encoding).text)
        .join('[[STOP]]');
      const more = countSmsParts(text) - countSmsParts(rewritten);
      expect(found?.partsMore ?? 0).toBe(Math.max(0, more));
    }),
    examples(300),
  );
});
