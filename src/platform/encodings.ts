export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'mac-roman'] as const;
export type Encoding = (typeof encodings)[number];

export const byteOrderMarks: readonly { readonly mark: Buffer; readonly encoding: Encoding }[] = [
  { mark: Buffer.from([0xef, 0xbb, 0xbf]), encoding: 'utf-8' },
  { mark: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { mark: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
];

const codePages = { 'windows-1252': 'windows-1252', 'mac-roman': 'macintosh' } as const;

/** Bytes by character. Each of these encodings gives every byte a character of its own. */
function bytesOf(encoding: keyof typeof codePages): ReadonlyMap<string, number> {
  const decoder = new TextDecoder(codePages[encoding]);
  return new Map(
    Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte] as const),
  );
}

/**
 * Encodes a text piece by piece.
 *
 * @param byteOrderMark whether the first piece begins with it
 * @throws the error of `onMissing` for a character that the encoding does not have
 */
export function createEncoder(
  encoding: Encoding,
  byteOrderMark: boolean,
  onMissing: (character: string) => Error,
): (text: string) => Buffer {
  let start = (byteOrderMark && byteOrderMarks.find((each) => each.encoding === encoding)?.mark) || undefined;
  const encode = encodeIn(encoding, onMissing);
  return (text) => {
    const bytes = start ? Buffer.concat([start, encode(text)]) : encode(text);
    start = undefined;
    return bytes;
  };
}

function encodeIn(encoding: Encoding, onMissing: (character: string) => Error): (text: string) => Buffer {
  if (encoding === 'utf-8') return (text) => Buffer.from(text);
  if (encoding === 'utf-16le') return (text) => Buffer.from(text, 'utf16le');
  if (encoding === 'utf-16be') return (text) => Buffer.from(text, 'utf16le').swap16();
  const bytes = bytesOf(encoding);
  return (text) =>
    Buffer.from(
      Array.from(text, (character) => {
        const byte = bytes.get(character);
        if (byte === undefined) throw onMissing(character);
        return byte;
      }),
    );
}
