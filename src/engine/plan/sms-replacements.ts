import { isGsmText, readConverted } from './sms-parts.ts';

/** What neither Unicode nor the library spells in GSM-7. */
const spellings: Readonly<Record<string, string>> = {
  '\t': ' ',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  ħ: 'h',
  Ħ: 'H',
  ŧ: 't',
  Ŧ: 'T',
  ŋ: 'ng',
  ı: 'i',
  ə: 'e',
  Ə: 'E',
  œ: 'oe',
  Œ: 'OE',
  ẞ: 'SS',
  '©': '(C)',
  '®': '(R)',
  '°': ' deg',
  '×': 'x',
  '−': '-',
  '‑': '-',
  '·': '-',
  '±': '+/-',
  '≤': '<=',
  '≥': '>=',
  '→': '->',
  '←': '<-',
  '′': "'",
  '″': '"',
  '¢': 'c',
  '،': ',',
  '؛': ';',
  '؟': '?',
  '₹': 'Rs',
};

/**
 * What to write instead of a character that forces UCS-2. Punctuation is spelt as by the library's own table, and
 * letters lose their accents.
 *
 * @param grapheme one character as a reader sees it, such as an emoji of several code points
 * @returns empty: leave it out; null: a letter of another script, which GSM-7 cannot spell
 */
export function replacementInGsm(grapheme: string): string | null {
  const composed = grapheme.normalize('NFC');
  const spelt = [
    spellings[grapheme],
    composed,
    /^[\p{Zs}\p{Zl}\p{Zp}]$/u.test(grapheme) ? ' ' : undefined,
    readConverted(grapheme),
    composed.normalize('NFKD').replace(/\p{M}/gu, ''),
  ].find((text) => text !== undefined && text !== '' && isGsmText(text));
  if (spelt !== undefined) return spelt;
  return scriptOf(grapheme) === undefined ? '' : null;
}

/** What to write instead of a GSM-7 character of two septets. Nothing is shorter than the euro sign. */
export const replacementsInSeptet: Readonly<Record<string, string>> = {
  '[': '(',
  ']': ')',
  '{': '(',
  '}': ')',
  '\\': '/',
  '|': '/',
  '~': '-',
  '^': '',
  '€': '',
  '\f': '',
};

const scripts = [
  ...['Arabic', 'Armenian', 'Bengali', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek'],
  ...['Gujarati', 'Gurmukhi', 'Han', 'Hangul', 'Hebrew', 'Hiragana', 'Kannada', 'Katakana', 'Khmer'],
  ...['Lao', 'Malayalam', 'Mongolian', 'Myanmar', 'Sinhala', 'Tamil', 'Telugu', 'Thai', 'Tibetan'],
].map((name) => ({ name, letters: new RegExp(`\\p{Script=${name}}`, 'u') }));

const otherLetter = /(?!\p{Script=Latin})\p{L}/u;

/** The script of a character that begins with a letter; undefined for Latin letters and everything else. */
export function scriptOf(grapheme: string): string | undefined {
  const first = String.fromCodePoint(grapheme.codePointAt(0) ?? 0);
  if (!/[\p{L}\p{M}\p{N}]/u.test(first)) return undefined;
  const script = scripts.find(({ letters }) => letters.test(first))?.name;
  return script ?? (otherLetter.test(first) ? 'foreign' : undefined);
}
