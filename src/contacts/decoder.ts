import { isAscii, isUtf8 } from 'node:buffer';
import { byteOrderMarks, type Encoding } from './encodings.ts';
import { checkSingleBytes, macRoman, noWindows1252, windows1252 } from './single-byte.ts';

/** The text of some bytes; where they are not what the encoding allows, the text before that, and what is wrong. */
export type Decoded = { readonly text: string; readonly fault?: string };

export type Decoder = {
  /** As far as it is known. What is ASCII alone is UTF-8 too. */
  readonly encoding: () => Encoding;
  /** A character that the end of the bytes cuts in two comes with the next ones. */
  readonly decode: (bytes: Buffer) => Decoded;
  /** What is left over when no more bytes come. */
  readonly end: () => Decoded;
};

/**
 * Decodes a file piece by piece, and never puts a replacement character for what it cannot read.
 *
 * Where no encoding is named and no byte order mark tells it, the first piece with bytes beyond ASCII decides for the
 * whole file: UTF-8 when it is that, Windows-1252 when not a single character in it could be UTF-8 and its letters make no
 * words in Mac Roman. Anything else is not guessed at: either guess would send some recipient a wrong name.
 */
export function createDecoder(named: Encoding | undefined): Decoder {
  let encoding = named;
  let started = false;
  let rest: Buffer = Buffer.alloc(0);
  // The word that the first letter beyond ASCII is in may have begun in the piece before.
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
      const detected = detectEncoding(whole, before);
      if (typeof detected !== 'string') return detected;
      encoding = detected;
    }
    return decoders[encoding](whole, named);
  };

  return {
    encoding: () => encoding ?? 'utf-8',
    decode: (bytes) => {
      if (started) return decode(rest.length === 0 ? bytes : Buffer.concat([rest, bytes]), false);
      started = true;
      const marked = byteOrderMarks.find(({ mark }) => mark.equals(bytes.subarray(0, mark.length)));
      if (marked && named !== undefined && named !== marked.encoding) {
        return { text: '', fault: contradiction(marked.encoding, named) };
      }
      encoding ??= marked?.encoding;
      if (encoding === undefined && bytes.includes(0)) return { text: '', fault: notText };
      return decode(bytes.subarray(marked?.mark.length ?? 0), false);
    },
    end: () => decode(rest, true),
  };
}

/** Bytes. */
const wordLength = 16;

const mixed =
  'The file holds bytes that are UTF-8, and in this line some that are not. Save it as "CSV UTF-8", or name its encoding with "contacts.encoding".';
const notUtf8 =
  'Expected UTF-8, and this line holds bytes that are not. Save the file as "CSV UTF-8", or name its encoding with "contacts.encoding".';
const notText =
  'The file holds NUL bytes: it is UTF-16 without a byte order mark, or no text file. Save it as "CSV UTF-8", or name its encoding with "contacts.encoding".';
const lateUtf8 =
  'The file was read as Windows-1252 so far, and this line looks like UTF-8. Save it as "CSV UTF-8", or name its encoding with "contacts.encoding".';
const notWindows1252 =
  'This line holds a byte that means nothing in Windows-1252, and the file is not UTF-8 either. Save it as "CSV UTF-8", or name its encoding with "contacts.encoding".';
const notUtf16 = 'This line holds bytes that are not UTF-16. Save the file as "CSV UTF-8".';

function contradiction(marked: Encoding, named: Encoding): string {
  return `The file begins with the byte order mark of ${marked}, and "contacts.encoding" says ${named}. Leave "contacts.encoding" out, or set it to ${marked}.`;
}

function isWide(encoding: Encoding | undefined): boolean {
  return encoding === 'utf-16le' || encoding === 'utf-16be';
}

/** A character of UTF-8 beyond ASCII. In Windows-1252 it is two letters that hardly ever stand side by side. */
const utf8Character = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;

/** Undecided, it is said why, with the text before the place. */
function detectEncoding(bytes: Buffer, before: Buffer): Encoding | Decoded {
  if (isUtf8(bytes)) return 'utf-8';
  if (utf8Character.test(bytes.toString('latin1'))) {
    return { text: bytes.toString('latin1', 0, lengthOfUtf8(bytes)), fault: mixed };
  }
  const guess = checkSingleBytes(Buffer.concat([before, bytes]));
  if (guess.certain) return 'windows-1252';
  const fault = `The file is not UTF-8. This line reads "${guess.windows}" in Windows-1252 and "${guess.mac}" in Mac Roman: say which is right with "contacts.encoding" (windows-1252 or mac-roman), or save the file as "CSV UTF-8".`;
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
    // Half a character at the end stays what it is.
    return decodeUtf16(Buffer.concat([swapped, bytes.subarray(swapped.length)]));
  },
};

function decodeUtf16(bytes: Buffer): Decoded {
  const text = bytes.toString('utf16le');
  if (!text.isWellFormed()) return { text: text.slice(0, text.search(/\p{Surrogate}/u)), fault: notUtf16 };
  return bytes.length % 2 === 0 ? { text } : { text, fault: notUtf16 };
}

/** How many bytes are UTF-8 before the first that is not. */
function lengthOfUtf8(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    // A character cut in two by the middle is no fault.
    if (isUtf8(bytes.subarray(0, endOfWholeCharacters(bytes.subarray(0, middle), 'utf-8')))) good = middle;
    else bad = middle;
  }
  return good;
}

/** Leaves out a last character that the end of the bytes may have cut in two. */
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
