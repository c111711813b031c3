import { SegmentedMessage } from 'sms-segments-calculator';

/** ASCII characters of one septet in GSM-7. Most texts contain no others. */
const plain = /^[\n\r -Z_a-z]*$/;

/** GSM-7 (3GPP TS 23.038, 6.2.1), as parts of regular expressions. */
const inOneSeptet = '\\n\\r -Z_a-z¡£¤¥§¿ÄÅÆÇÉÑÖØÜßàäåæèéìñòöøùüΓΔΘΛΞΠΣΦΨΩ';
const inTwoSeptets = '\\f\\^{}\\[\\]~\\\\\\|€';

const gsmText = new RegExp(`^[${inOneSeptet}${inTwoSeptets}]*$`);
const septetText = new RegExp(`^[${inOneSeptet}]*$`);

export const twoSeptetCharacters = new RegExp(`[${inTwoSeptets}]`, 'g');

const ucs2Run = `[^${inOneSeptet}${inTwoSeptets}]+`;
const plainUcs2Runs = new RegExp(ucs2Run, 'gu');
const markedUcs2Runs = new RegExp(`(?:.(?=\\p{M}))?${ucs2Run}`, 'gsu');

/** Finds characters that force UCS-2, with the character that a combining mark belongs to. */
export function ucs2RunsOf(text: string): RegExp {
  return /\p{M}/u.test(text) ? markedUcs2Runs : plainUcs2Runs;
}

/** Whether no character costs more than another. */
export function isInSeptets(text: string): boolean {
  return septetText.test(text);
}

export function isGsmText(text: string): boolean {
  return gsmText.test(text);
}

/** Characters that never combine with a neighbour. Others may belong to the character before and must stay with it. */
const separate =
  /^[\n\r -\u02ff\u0370-\u0482\u048a-\u052f\u05d0-\u05ea\u0621-\u064a\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u3000-\u3029\u3030-\u3096\u309b-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9d]*$/;

/** With emoji of one code point, which are no part of a sequence. */
const separateEmoji = new RegExp(
  `${separate.source.slice(0, -3)}\\u{1f300}-\\u{1f3fa}\\u{1f400}-\\u{1f64f}\\u{1f680}-\\u{1f6ff}\\u{1f900}-\\u{1f9af}\\u{1f9b4}-\\u{1f9ff}]*$`,
  'u',
);

/** Of a message in one part, and of each of several. */
export const charactersPerPart = {
  'GSM-7': { alone: 160, ofSeveral: 153 },
  'UCS-2': { alone: 70, ofSeveral: 67 },
} as const;
const { 'GSM-7': gsm, 'UCS-2': ucs2 } = charactersPerPart;

/** `CharacterConversion` (interface.md, 2.5) replaces a character by at most this many: `½` becomes `1/2`. */
const longestConversion = 7;

/**
 * Counts billed parts: 160/153 characters in GSM-7, 70/67 in UCS-2. The exact library needs 0.1 ms per text, too much
 * for a million texts, so it is called only when characters may combine or be converted.
 */
export function countSmsParts(text: string, characterConversion = false): number {
  const { length } = text;
  if (length * (characterConversion ? longestConversion : 1) <= ucs2.alone) return 1;
  if (plain.test(text)) return length <= gsm.alone ? 1 : Math.ceil(length / gsm.ofSeveral);
  if (gsmText.test(text)) return countGsmParts(text);
  if (characterConversion) return countExactly(text, characterConversion);
  if (separate.test(text)) return Math.ceil(length / ucs2.ofSeveral);
  return separateEmoji.test(text) ? countUcs2Parts(text) : countExactly(text, false);
}

/** Codes of GSM-7 characters with two septets. Only the euro is outside ASCII. */
const twoSeptets = new Set([...'\f^{}\\[~]|€'].map((character) => character.charCodeAt(0)));
const septetsOfAscii = Uint8Array.from({ length: 128 }, (_, code) => (twoSeptets.has(code) ? 2 : 1));

/** A two-septet character that does not fit into a part starts the next one. */
function countGsmParts(text: string): number {
  let septets = 0;
  let fullParts = 0;
  let used = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const size = septetsOfAscii[code] ?? (twoSeptets.has(code) ? 2 : 1);
    septets += size;
    used += size;
    if (used <= gsm.ofSeveral) continue;
    fullParts++;
    used = size;
  }
  return septets <= gsm.alone ? 1 : fullParts + 1;
}

/** An emoji that does not fit into a part starts the next one. */
function countUcs2Parts(text: string): number {
  let parts = 1;
  let used = 0;
  for (const character of text) {
    used += character.length;
    if (used <= ucs2.ofSeveral) continue;
    parts++;
    used = character.length;
  }
  return parts;
}

/** The text as the service converts it with `CharacterConversion` (interface.md, 2.5). */
export function readConverted(text: string): string {
  return new SegmentedMessage(text, 'auto', true).graphemes.join('');
}

function countExactly(text: string, characterConversion: boolean): number {
  return new SegmentedMessage(text, 'auto', characterConversion).segmentsCount;
}
