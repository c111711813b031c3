import { isAscii, isUtf8 } from 'node:buffer';
import { byteOrderMarks, type Encoding } from '../platform/encodings.ts';

/** Decoded text; with a fault, the text before it. */
type Decoded = { readonly text: string; readonly fault?: string };

type Decoder = {
  /** As far as known; pure ASCII counts as UTF-8. */
  readonly encoding: () => Encoding;
  readonly byteOrderMark: () => boolean;
  /** Keeps a character that the end of the bytes splits for the next call. */
  readonly decode: (bytes: Buffer) => Decoded;
  readonly end: () => Decoded;
};

/**
 * Decodes a file in pieces, without replacement characters.
 *
 * Without a named encoding or byte order mark, the first piece with non-ASCII bytes decides for the whole file:
 * UTF-8 if valid; Windows-1252 if no character could be UTF-8 and its letters make no words in Mac Roman. Anything
 * else is an error: a wrong guess would send a recipient a wrong name.
 *
 * @param expected decides between Windows-1252 and Mac Roman where the bytes do not
 */
export function createDecoder(named: Encoding | undefined, expected?: Encoding): Decoder {
  let encoding = named;
  let byteOrderMark = false;
  let started = false;
  let rest: Buffer = Buffer.alloc(0);
  // The end of the previous piece: the word with the first non-ASCII letter can begin there.
  let before: Buffer = Buffer.alloc(0);

  const decode = (bytes: Buffer, last: boolean): Decoded => {
    const end = last ? bytes.length : endOfWholeCharacters(bytes, encoding);
    rest = bytes.subarray(end);
    const whole = bytes.subarray(0, end);
    if (isAscii(whole) && !isWide(encoding)) {
      before = whole.subarray(-wordLength);
      return { text: whole.toString('latin1') };
    }
    if (encoding === undefined) {
      const detected = detectEncoding(whole, before, expected);
      if (typeof detected !== 'string') return detected;
      encoding = detected;
    }
    return decoders[encoding](whole, named);
  };

  return {
    encoding: () => encoding ?? 'utf-8',
    byteOrderMark: () => byteOrderMark,
    decode: (bytes) => {
      if (started) return decode(rest.length === 0 ? bytes : Buffer.concat([rest, bytes]), false);
      started = true;
      const marked = byteOrderMarks.find(({ mark }) => mark.equals(bytes.subarray(0, mark.length)));
      if (marked && named !== undefined && named !== marked.encoding) {
        return { text: '', fault: contradiction(marked.encoding, named) };
      }
      encoding ??= marked?.encoding;
      byteOrderMark = marked !== undefined;
      if (encoding === undefined && bytes.includes(0)) return { text: '', fault: notText };
      return decode(bytes.subarray(marked?.mark.length ?? 0), false);
    },
    end: () => decode(rest, true),
  };
}

/** Bytes. */
const wordLength = 16;

const mixed =
  'The file contains UTF-8, but this line contains bytes that are not UTF-8. Save the file as "CSV UTF-8", or set its encoding with "contacts.encoding".';
const notUtf8 =
  'Expected UTF-8, but this line contains other bytes. Save the file as "CSV UTF-8", or set its encoding with "contacts.encoding".';
const notText =
  'The file contains NUL bytes: it is UTF-16 without a byte order mark, or not a text file. Save it as "CSV UTF-8", or set its encoding with "contacts.encoding".';
const lateUtf8 =
  'The file was read as Windows-1252 so far, but this line looks like UTF-8. Save it as "CSV UTF-8", or set its encoding with "contacts.encoding".';
const notWindows1252 =
  'This line contains a byte without meaning in Windows-1252, and the file is not UTF-8 either. Save it as "CSV UTF-8", or set its encoding with "contacts.encoding".';
const notUtf16 = 'This line contains bytes that are not UTF-16. Save the file as "CSV UTF-8".';

function contradiction(marked: Encoding, named: Encoding): string {
  return `The file begins with the byte order mark of ${marked}, but "contacts.encoding" is ${named}. Remove "contacts.encoding", or set it to ${marked}.`;
}

function isWide(encoding: Encoding | undefined): boolean {
  return encoding === 'utf-16le' || encoding === 'utf-16be';
}

/** A non-ASCII character of UTF-8. In Windows-1252 it is a pair of letters that hardly any word has. */
const utf8Character = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;

/** If undecided, a fault with the text before it. */
function detectEncoding(bytes: Buffer, before: Buffer, expected: Encoding | undefined): Encoding | Decoded {
  if (isUtf8(bytes)) return 'utf-8';
  if (utf8Character.test(bytes.toString('latin1'))) {
    return { text: bytes.toString('latin1', 0, lengthOfUtf8(bytes)), fault: mixed };
  }
  const guess = checkSingleBytes(Buffer.concat([before, bytes]));
  if (guess.certain) return 'windows-1252';
  if (expected === 'windows-1252' || expected === 'mac-roman') return expected;
  const fault = `The file is not UTF-8. This line reads "${guess.windows}" in Windows-1252 and "${guess.mac}" in Mac Roman. Choose one with "contacts.encoding" (windows-1252 or mac-roman), or save the file as "CSV UTF-8".`;
  return { text: bytes.toString('latin1', 0, guess.offset - before.length), fault };
}

const decoders: Readonly<Record<Encoding, (bytes: Buffer, named: Encoding | undefined) => Decoded>> = {
  'utf-8': (bytes) =>
    isUtf8(bytes)
      ? { text: bytes.toString('utf8') }
      : { text: bytes.toString('latin1', 0, lengthOfUtf8(bytes)), fault: notUtf8 },

  'windows-1252': (bytes, named) => {
    const latin = bytes.toString('latin1');
    const late = named === undefined ? latin.search(utf8Character) : -1;
    if (late >= 0) return { text: latin.slice(0, late), fault: lateUtf8 };
    const unknown = latin.search(noWindows1252);
    if (unknown >= 0) return { text: latin.slice(0, unknown), fault: notWindows1252 };
    return { text: windows1252.decode(bytes) };
  },

  'mac-roman': (bytes) => ({ text: macRoman.decode(bytes) }),

  'utf-16le': decodeUtf16,
  'utf-16be': (bytes) => {
    const swapped = Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
    // Keeps half a character at the end.
    return decodeUtf16(Buffer.concat([swapped, bytes.subarray(swapped.length)]));
  },
};

function decodeUtf16(bytes: Buffer): Decoded {
  const text = bytes.toString('utf16le');
  if (!text.isWellFormed()) return { text: text.slice(0, text.search(/\p{Surrogate}/u)), fault: notUtf16 };
  return bytes.length % 2 === 0 ? { text } : { text, fault: notUtf16 };
}

/** Valid UTF-8 bytes before the first invalid one. */
function lengthOfUtf8(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    // Ignores a character that the middle splits.
    if (isUtf8(bytes.subarray(0, endOfWholeCharacters(bytes.subarray(0, middle), 'utf-8')))) good = middle;
    else bad = middle;
  }
  return good;
}

/** The length without a last character that the end of the bytes may split. */
function endOfWholeCharacters(bytes: Buffer, encoding: Encoding | undefined): number {
  const { length } = bytes;
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const even = length & ~1;
    const highByte = bytes[even - (encoding === 'utf-16le' ? 1 : 2)] ?? 0;
    return (highByte & 0xfc) === 0xd8 ? even - 2 : even;
  }
  for (let end = length - 1; end >= Math.max(0, length - 3); end--) {
    const byte = bytes[end] ?? 0;
    if (byte >= 0xc0) return end;
    if (byte < 0x80) break;
  }
  return length;
}

/**
 * Windows-1252 and Mac Roman have a letter for nearly every byte, so bytes alone rule out neither. Only one of them
 * usually makes words: `René` in one is `RenÈ` in the other.
 */

const windows1252 = new TextDecoder('windows-1252');
const macRoman = new TextDecoder('macintosh');

const noWindows1252 = /[\x81\x8d\x8f\x90\x9d]/;

/**
 * Whether non-UTF-8 bytes are certainly Windows-1252. If not, returns a text that could be either, in both
 * readings.
 */
function checkSingleBytes(
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
