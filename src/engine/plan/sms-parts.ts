import { SegmentedMessage } from 'sms-segments-calculator';

/** ASCII characters that take one place in GSM-7: most texts of a campaign have no others. */
const plain = /^[\n\r -Z_a-z]*$/;

/** Text in GSM-7: its basic alphabet and the characters of two places (3GPP TS 23.038, 6.2.1). */
const gsmText =
  /^[\n\r !"#$%&'()*+,\-./0-9:;<=>?@A-Z_a-z¡£¤¥§¿ÄÅÆÇÉÑÖØÜßàäåæèéìñòöøùüΓΔΘΛΞΠΣΦΨΩ^{}[\]~\\|€]*$/;

/**
 * Letters and signs that stand for themselves, whatever is beside them: Latin, Greek, Cyrillic, Hebrew, Arabic,
 * Chinese, Japanese and Korean. Others may belong to the character before, and are not parted from it.
 */
const separate =
  /^[\n\r -\u02ff\u0370-\u0482\u048a-\u052f\u05d0-\u05ea\u0621-\u064a\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u3000-\u3029\u3030-\u3096\u309b-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9d]*$/;

const gsm = { alone: 160, ofSeveral: 153 } as const;
const ucs2 = { alone: 70, ofSeveral: 67 } as const;

/** `CharacterConversion` (interface.md, 2.5) writes no character with more than this many: `½` becomes `1/2`. */
const longestConversion = 7;

/**
 * How many parts a text is sent and billed in: 160/153 characters in GSM-7, 70/67 in UCS-2.
 *
 * The exact library takes a tenth of a millisecond a text, too much for a million of them, so it is only asked where
 * characters outside of GSM-7 may belong together, and which characters `CharacterConversion` makes some of GSM-7.
 */
export function countSmsParts(text: string, characterConversion = false): number {
  const { length } = text;
  if (fitsOnePart(length, characterConversion)) return 1;
  if (plain.test(text)) return length <= gsm.alone ? 1 : Math.ceil(length / gsm.ofSeveral);
  if (gsmText.test(text)) return countGsmParts(text);
  return characterConversion || !separate.test(text)
    ? countExactly(text, characterConversion)
    : Math.ceil(length / ucs2.ofSeveral);
}

/** Whether any text of this length is sent in one part. */
export function fitsOnePart(length: number, characterConversion: boolean): boolean {
  return length * (characterConversion ? longestConversion : 1) <= ucs2.alone;
}

/** Characters of GSM-7 that take two places, by their codes; the euro is the only one outside ASCII. */
const twoSeptets = new Set([...'\f^{}\\[~]|€'].map((character) => character.charCodeAt(0)));
const septetsOfAscii = Uint8Array.from({ length: 128 }, (_, code) => (twoSeptets.has(code) ? 2 : 1));

/** One after the other: a character of two places that has room for only one goes into the next part. */
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

function countExactly(text: string, characterConversion: boolean): number {
  return new SegmentedMessage(text, 'auto', characterConversion).segmentsCount;
}
