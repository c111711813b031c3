/**
 * A phone number in ASCII digits and signs, which the phone number library reads alike in every country. It reads
 * U+FF0B as a plus sign in one place and ignores it in another, so that `＋49 170…` becomes +4949170… in Germany.
 */
type PhoneText = {
  readonly text: string;
  /** Removed text, in order: `tel:`, or an invisible character. */
  readonly removed: readonly string[];
};

/** Characters. */
const maxLength = 250;

/** Spaces and invisible characters. */
const blank = String.raw`[\s\p{Cf}\p{Default_Ignorable_Code_Point}]`;
const before = new RegExp(`^${blank}*(?:tel:${blank}*)?`, 'iu');
const after = new RegExp(`${blank}+$`, 'u');

/** Characters that the library ignores inside a number. */
const ignorable = /[\u00ad\u200b\u2060]/gu;

/** Full-width and small forms of phone number signs; dashes and spaces have their own classes. */
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

/** Removes only spaces at the ends and what `removed` lists. */
export function readPhoneText(written: string): PhoneText {
  // Fast path for nearly all numbers. The library rejects longer texts, and the patterns below would be slow.
  const isPlain = /^[\x20-\x7e]*$/.test(written) && !/^\s*tel:/i.test(written);
  if (isPlain || written.length > maxLength) {
    return { text: written.trim(), removed: [] };
  }
  // A semicolon marks a `tel:` address (RFC 3966), which the library parses itself.
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

/** A character that no phone number has. Letters are allowed here: they make words. */
export function foreignCharacter(text: string): string | undefined {
  return /[^\x20-\x7e\p{L}\p{M}]/u.exec(text)?.[0];
}

function marksOf(text: string): string[] {
  const scheme = /tel:/i.test(text) ? ['tel:'] : [];
  const [first = '', second = ''] = text.split(/tel:/i);
  return [...invisibleIn(first), ...scheme, ...invisibleIn(second)];
}

/** Excludes spaces of any width. */
function invisibleIn(text: string): string[] {
  return text.match(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu) ?? [];
}

function plainCharacter(character: string): string {
  if (/\p{Nd}/u.test(character)) return decimalValue(character);
  if (/\p{Pd}/u.test(character)) return '-';
  if (/\p{Zs}/u.test(character)) return ' ';
  return signs[character] ?? character;
}

/** Unicode orders the digits of each script from zero to nine. */
function decimalValue(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String((code - zero) % 10);
}
