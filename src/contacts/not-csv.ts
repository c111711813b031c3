import { extname } from 'node:path';
import { byteOrderMarks } from '../platform/encodings.ts';

/**
 * Recognises other formats by their first bytes, whatever the file's name: an export called `.csv` or `.xls` is
 * often an HTML page.
 */

type Signature = { readonly bytes: readonly number[]; readonly what: string };

const saveSheet =
  'Open it in the spreadsheet program and save it as a workbook (.xlsx) without a password, or the sheet as "CSV UTF-8".';
const packed = (name: string): string =>
  `The file is compressed with ${name}. Decompress it, or compress the CSV file itself with gzip.`;

const signatures: readonly Signature[] = [
  {
    bytes: ascii('%PDF-'),
    what: 'The file is a PDF. Ask for the list as CSV: rows cannot be read reliably from a page.',
  },
  {
    bytes: [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
    what: `The file is an old Excel workbook (xls), or a password protects it. ${saveSheet}`,
  },
  { bytes: ascii('{\\rtf'), what: 'The file is a text document (RTF). Save the list as plain text, as CSV.' },
  { bytes: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], what: packed('7-Zip') },
  { bytes: ascii('Rar!'), what: packed('RAR') },
  { bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], what: packed('xz') },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], what: packed('zstd') },
  { bytes: [...ascii('BZh'), 0x31], what: packed('bzip2') },
  { bytes: [...ascii('BZh'), 0x39], what: packed('bzip2') },
  { bytes: [0x1f, 0x8b], what: 'The file is compressed with gzip twice. Decompress it once.' },
  { bytes: [0x89, ...ascii('PNG')], what: 'The file is a picture (PNG). Ask for the list as CSV.' },
  { bytes: [0xff, 0xd8, 0xff], what: 'The file is a picture (JPEG). Ask for the list as CSV.' },
  { bytes: ascii('SQLite format 3\0'), what: 'The file is an SQLite database. Export the table as CSV.' },
  { bytes: ascii('PAR1'), what: 'The file is a Parquet table. Export it as CSV.' },
];

/** The first bytes of an archive, and of an empty one. */
const zipMarks = ['PK\x03\x04', 'PK\x05\x06'];

const texts: readonly (readonly [RegExp, string])[] = [
  [
    /^\s*(?:\{\s*(?:"|\}\s*$)|\[\s*(?:[[{"\]]|-?\d|true|false|null))/,
    'The file is JSON. Export the list as CSV with a header line, or convert it first.',
  ],
  [
    /^\s*<(?:!doctype\s+html|html|head|body|table|meta|style)\b/i,
    `The file is an HTML page, as many exports called xls are. ${saveSheet}`,
  ],
  [/^\s*<\?xml[^>]*>\s*<\?mso-application/, `The file is an Excel workbook (XML). ${saveSheet}`],
  [/^\s*<\?xml\b/, 'The file is XML. Export the list as CSV with a header line, or convert it first.'],
];

export function isZip(start: Buffer): boolean {
  const mark = start.toString('latin1', 0, 4);
  return zipMarks.includes(mark);
}

export const passwordProtected =
  'The workbook is protected by a password. Open it in the spreadsheet program, remove the password and save it again.';

/** The name of the encrypted part in a file that begins like an old workbook. It can stand farther back. */
const encryptedPackage = Buffer.from('EncryptedPackage', 'utf16le');

const workbookEndings = /^\.xl[st][xm]$/i;

/**
 * The format and the remedy, in sentences; undefined: it can be CSV.
 *
 * @param start the first bytes, decompressed; a few thousand are enough
 * @param name of the file
 */
export function describeOtherFile(start: Buffer, name: string): string | undefined {
  const signature = signatures.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte));
  if (start.includes(encryptedPackage)) return passwordProtected;
  if (signature) return signature.what;
  if (isZip(start))
    return 'The workbook is compressed with gzip. Decompress it: a workbook is compressed anyway.';
  const text = textOf(start, start.toString('latin1'));
  const ending = extname(name);
  return (
    texts.find(([pattern]) => pattern.test(text))?.[1] ??
    (workbookEndings.test(ending)
      ? `The name of the file ends with ${ending}, but it is no workbook. If it is CSV, name it .csv; otherwise copy it again.`
      : undefined)
  );
}

function ascii(text: string): number[] {
  return [...Buffer.from(text, 'latin1')];
}

/** Only ASCII matters here, so any encoding that contains it works. */
function textOf(start: Buffer, latin: string): string {
  const marked = byteOrderMarks.find(({ mark }) => mark.equals(start.subarray(0, mark.length)));
  if (!marked) return latin;
  const rest = start.subarray(marked.mark.length);
  if (marked.encoding === 'utf-8') return rest.toString('latin1');
  return rest.toString('latin1').replaceAll('\0', '');
}
