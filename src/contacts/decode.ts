import { isAscii, isUtf8 } from 'node:buffer';
import { InputError } from '../domain.ts';
import { faultyLine } from '../platform/utf8.ts';

/** The encodings of contact files. What calls itself Latin-1 is Windows-1252, which has letters where that has nothing. */
export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const;
export type Encoding = (typeof encodings)[number];

export type DecodedFile = {
  /** Pieces of text; none ends between CR and LF. Can be read once. */
  readonly pieces: AsyncIterable<string>;
  /** As far as is known: a file of ASCII alone is UTF-8. */
  readonly encoding: () => Encoding;
};

/**
 * Turns a file's bytes into text. Without a name the encoding is told by the byte order mark, else by the first bytes
 * outside ASCII: UTF-8, or, if they are not, Windows-1252. No prescan is needed, so it works on a pipe; and a file that
 * is a mixture is refused, for a wrongly read name would be sent without a word.
 *
 * The pieces throw InputError, with the line, for bytes that are not of the encoding.
 */
export function decodeFile(bytes: AsyncIterable<Buffer>, name: string, named?: Encoding): DecodedFile {
  let encoding = named;
  const pieces = async function* (): AsyncGenerator<string, void, undefined> {
    let lines = 0;
    let heldBack = '';
    for await (const text of decodedPieces(wholeBeginning(bytes), new Place(name, () => lines))) {
      // The other half of a CRLF may be in the next piece.
      const all = heldBack + text;
      const end = all.endsWith('\r') ? all.length - 1 : all.length;
      heldBack = all.slice(end);
      const piece = all.slice(0, end);
      lines += countLineEnds(piece);
      yield piece;
    }
    if (heldBack !== '') yield heldBack;
  };

  async function* decodedPieces(source: AsyncIterable<Buffer>, place: Place): AsyncGenerator<string> {
    let isFirst = true;
    let decode: Decode | undefined;
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of source) {
      let piece = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (isFirst) {
        isFirst = false;
        const mark = markOf(piece);
        if (mark && named && mark.encoding !== named) throw place.wrongMark(mark.encoding, named);
        if (mark) piece = piece.subarray(mark.length);
        encoding ??= mark?.encoding;
        if (!encoding && looksLikeUtf16(piece)) throw place.nulBytes();
      }
      const end = encoding?.startsWith('utf-16') ? piece.length : endOfWholeCharacters(piece);
      rest = piece.subarray(end);
      piece = piece.subarray(0, end);
      if (!encoding && isAscii(piece)) {
        yield piece.toString('latin1');
        continue;
      }
      decode ??= decoderFor(encoding ?? detect(piece, place), named !== undefined, place);
      encoding ??= decode.encoding;
      yield decode.piece(piece);
    }
    if (rest.length > 0 && !encoding && isAscii(rest)) yield rest.toString('latin1');
    else if (rest.length > 0 || decode) {
      decode ??= decoderFor(encoding ?? detect(rest, place), named !== undefined, place);
      encoding ??= decode.encoding;
      yield decode.piece(rest) + decode.end();
    }
  }

  return { pieces: pieces(), encoding: () => encoding ?? 'utf-8' };
}

/** The chunks of a file, of which the first is long enough for a byte order mark. */
async function* wholeBeginning(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of bytes) {
    if (!beginning) {
      yield chunk;
      continue;
    }
    beginning = Buffer.concat([beginning, chunk]);
    if (beginning.length < longestMark) continue;
    yield beginning;
    beginning = undefined;
  }
  if (beginning && beginning.length > 0) yield beginning;
}

const longestMark = 3;

function markOf(bytes: Buffer): { readonly encoding: Encoding; readonly length: number } | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: 'utf-8', length: 3 };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'utf-16le', length: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', length: 2 };
  return undefined;
}

/** Text has no NUL; of UTF-16 in Western languages every second byte is one. */
function looksLikeUtf16(bytes: Buffer): boolean {
  const beginning = bytes.subarray(0, 1_000);
  let count = 0;
  for (const byte of beginning) if (byte === 0) count++;
  return count * 10 > beginning.length;
}

/** A sequence of bytes that is one character of UTF-8, each byte as a character of Latin-1. */
const utf8Sequence = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;

function detect(bytes: Buffer, place: Place): Encoding {
  if (isUtf8(bytes)) return 'utf-8';
  const line = faultyLine(bytes) ?? 1;
  if (utf8Sequence.test(bytes.toString('latin1'))) throw place.mixture(line);
  return 'windows-1252';
}

/** Decodes bytes that end with a whole character, but for UTF-16, where a piece may end anywhere. */
type Decode = {
  readonly encoding: Encoding;
  readonly piece: (bytes: Buffer) => string;
  readonly end: () => string;
};

function decoderFor(encoding: Encoding, isNamed: boolean, place: Place): Decode {
  if (encoding === 'utf-8') {
    const piece = (bytes: Buffer): string => {
      const line = faultyLine(bytes);
      if (line !== undefined) throw place.notOf(encoding, line);
      return bytes.toString('utf8');
    };
    return { encoding, piece, end: () => '' };
  }
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  if (encoding === 'windows-1252') {
    const piece = (bytes: Buffer): string => {
      const sequence = isNamed ? null : utf8Sequence.exec(bytes.toString('latin1'));
      if (sequence) throw place.mixture(1 + countLineEnds(bytes.toString('latin1', 0, sequence.index)));
      return decoder.decode(bytes);
    };
    return { encoding, piece, end: () => '' };
  }
  const decode = (bytes: Buffer, stream: boolean): string => {
    try {
      return decoder.decode(bytes, { stream });
    } catch {
      const lenient = new TextDecoder(encoding).decode(bytes);
      throw place.notOf(
        encoding,
        1 + countLineEnds(lenient.slice(0, Math.max(0, lenient.indexOf('\ufffd')))),
      );
    }
  };
  return { encoding, piece: (bytes) => decode(bytes, true), end: () => decode(Buffer.alloc(0), false) };
}

/** Leaves out a last character of UTF-8 that the end of the chunk may have cut in two, and a CR that may belong to a CRLF. */
function endOfWholeCharacters(bytes: Buffer): number {
  for (let end = bytes.length - 1; end >= Math.max(0, bytes.length - 3); end--) {
    const byte = bytes[end] ?? 0;
    if (byte >= 0xc0 || byte === 0x0d) return end;
    if (byte < 0x80) break;
  }
  return bytes.length;
}

/** LF, CRLF and CR each end a line. */
function countLineEnds(text: string): number {
  let count = 0;
  if (!text.includes('\r')) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
    return count;
  }
  return text.match(/\r\n|\r|\n/g)?.length ?? 0;
}

/** Where decoding is, for errors; lines are counted from 1 within what has not been decoded yet. */
class Place {
  readonly #name: string;
  readonly #linesBefore: () => number;

  constructor(name: string, linesBefore: () => number) {
    this.#name = name;
    this.#linesBefore = linesBefore;
  }

  notOf(encoding: Encoding, line: number): InputError {
    return encoding === 'utf-8'
      ? this.#error(
          line,
          'Expected UTF-8, and this line holds bytes that are not. Save the file as "CSV UTF-8", or name its encoding with "contacts.encoding".',
        )
      : this.#error(line, `Expected ${encoding}, and this line holds bytes that are not.`);
  }

  mixture(line: number): InputError {
    return this.#error(
      line,
      'The file seems to be a mixture of UTF-8 and Windows-1252: this line does not fit what stands before it. Name the encoding with "contacts.encoding", or save the file as "CSV UTF-8".',
    );
  }

  nulBytes(): InputError {
    return this.#error(
      1,
      'The file holds NUL bytes: it is UTF-16 without a byte order mark, or no text. Name its encoding with "contacts.encoding".',
    );
  }

  wrongMark(mark: Encoding, named: Encoding): InputError {
    return this.#error(
      1,
      `The file begins with the byte order mark of ${mark}, and "contacts.encoding" says ${named}. Leave one of them out.`,
    );
  }

  #error(line: number, what: string): InputError {
    return new InputError([{ where: `${this.#name}:${this.#linesBefore() + line}`, what }]);
  }
}
