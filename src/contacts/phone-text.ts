/**
 * A phone number as files have it, in the characters that the phone number library reads alike in every country: ASCII
 * digits and signs. The library takes U+FF0B for a plus sign in one place and passes over it in another, so that
 * `＋49 170…` becomes +4949170… in Germany.
 */
export type PhoneText = {
  readonly text: string;
  /** What was taken away, in the order of the text: `tel:`, or an invisible character. */
  readonly removed: readonly string[];
};

/** Characters. */
const maxLength = 250;

/** Spaces and invisible characters. */
const blank = String.raw`[\s\p{Cf}\p{Default_Ignorable_Code_Point}]`;
const before = new RegExp(`^${blank}*(?:tel:${blank}*)?`, 'iu');
const after = new RegExp(`${blank}+$`, 'u');

/** What the library itself passes over inside a number. */
const ignorable = /[\u00ad\u200b\u2060]/gu;

/** Signs that phone numbers are written with, full-width and small forms; the rest has a class of its own. */
const signs: Readonly<Record<string, string>> = {
  '＋': '+',
  '﹢': '+',
  '（': '(',
  '）': ')',
  '［': '[',
  '］': ']',
  '．': '.',
  '／': '/',
  '～': '~',
  '－': '-',
  ー: '-',
  '−': '-',
};

/** Numbers are read from texts of a cell; nothing is left out but spaces at the ends and what `removed` lists. */
export function readPhoneText(written: string): PhoneText {
  // Nearly all numbers are written so. The library takes nothing that is longer, and the patterns below would take long.
  const isPlain = /^[\x20-\x7e]*$/.test(written) && !/^\s*tel:/i.test(written);
  if (isPlain || written.length > maxLength) {
    return { text: written.trim(), removed: [] };
  }
  // What follows a semicolon belongs to a `tel:` address (RFC 3966), and the library knows what to do with it.
  const isAddress = /^\s*tel:[^;]*;/i.test(written);
  const start = isAddress ? '' : (before.exec(written)?.[0] ?? '');
  const rest = written.slice(start.length);
  const end = after.exec(rest)?.[0] ?? '';
  const inner = rest.slice(0, rest.length - end.length).trim();
  return {
    text: inner.replace(ignorable, '').replace(/[^\x20-\x7e]/gu, plainCharacter),
    removed: [...marksOf(start), ...(inner.match(ignorable) ?? []), ...marksOf(end)],
  };
}

/** A character that has no place in a phone number, however it is written. Letters are not among them: they make words. */
export function foreignCharacter(text: string): string | undefined {
  return /[^\x20-\x7e\p{L}\p{M}]/u.exec(text)?.[0];
}

function marksOf(text: string): string[] {
  const scheme = /tel:/i.test(text) ? ['tel:'] : [];
  const [first = '', second = ''] = text.split(/tel:/i);
  return [...invisibleIn(first), ...scheme, ...invisibleIn(second)];
}

/** Spaces of whatever width are nothing to tell of. */
function invisibleIn(text: string): string[] {
  return text.match(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu) ?? [];
}

function plainCharacter(character: string): string {
  if (/\p{Nd}/u.test(character)) return decimalValue(character);
  if (/\p{Pd}/u.test(character)) return '-';
  if (/\p{Zs}/u.test(character)) return ' ';
  return signs[character] ?? character;
}

/** Unicode has the digits of each script side by side, from zero to nine. */
function decimalValue(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}
