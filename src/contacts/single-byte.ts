/**
 * Windows-1252 and Mac Roman have a letter for nearly every byte, so bytes alone rule out neither. Only one of them
 * usually makes words: `René` in one is `RenÈ` in the other.
 */

export const windows1252 = new TextDecoder('windows-1252');
export const macRoman = new TextDecoder('macintosh');

export const noWindows1252 = /[\x81\x8d\x8f\x90\x9d]/;

/**
 * Whether non-UTF-8 bytes are certainly Windows-1252. If not, returns a text that could be either, in both
 * readings.
 */
export function checkSingleBytes(
  bytes: Buffer,
):
  | { readonly certain: true }
  | { readonly certain: false; readonly offset: number; readonly windows: string; readonly mac: string } {
  const latin = bytes.toString('latin1');
  const windows = windows1252.decode(bytes);
  const mac = macRoman.decode(bytes);
  let windowsFaults = 0;
  let macFaults = 0;
  let doubtful: number | undefined;
  for (const { index } of latin.matchAll(/[\x80-\xff]/g)) {
    const windowsFault = noWindows1252.test(latin.charAt(index)) || isUnlikelyIn(windows, index);
    const macFault = isUnlikelyIn(mac, index);
    if (windowsFault) windowsFaults++;
    if (macFault) macFaults++;
    if (!macFault || windowsFault) doubtful ??= index;
  }
  // A few typing mistakes look unlikely in either encoding.
  if (macFaults > 3 * windowsFaults) return { certain: true };
  const offset = doubtful ?? Math.max(0, latin.search(/[\x80-\xff]/));
  return { certain: false, offset, windows: textAround(windows, offset), mac: textAround(mac, offset) };
}

/** Ligatures and letters that hardly any word has. */
const rareLetter = /[ﬁﬂıƒªº]/;
const accentAlone = /[\u02c0-\u02ff\u00a8\u00af\u00b8]/;

/**
 * Whether a character is unlikely there: a sign inside a word, a letter next to a digit, a capital after a
 * lower-case letter.
 */
function isUnlikelyIn(text: string, index: number): boolean {
  const character = text.charAt(index);
  const before = text.charAt(index - 1);
  const after = text.charAt(index + 1);
  if (character === '’') return false;
  if (rareLetter.test(character)) return isLetter(before) || isLetter(after);
  if (!isLetter(character)) return accentAlone.test(character) || (isLetter(before) && isLetter(after));
  if (isDigit(before) || isDigit(after)) return true;
  if (!isCapital(character)) return isCapital(after);
  return isSmall(before) || (isCapital(before) && isSmall(after));
}

const isLetter = (text: string): boolean => /\p{L}/u.test(text);
const isCapital = (text: string): boolean => /\p{Lu}/u.test(text);
const isSmall = (text: string): boolean => /\p{Ll}/u.test(text);
const isDigit = (text: string): boolean => /\d/.test(text);

/** Within its value. */
function textAround(text: string, offset: number): string {
  const start = text.slice(Math.max(0, offset - 12), offset).replace(/^.*[\r\n,;\t|"]/s, '');
  const end = text.slice(offset, offset + 12).replace(/[\r\n,;\t|"].*$/s, '');
  return (start + end).trim();
}
