import type { ContactFile, Row } from '../../contacts/contact-file.ts';
import { isGzip, prepend, unpack } from '../../contacts/file-bytes.ts';
import { listLinesOfAddress } from '../../ledger/recipients/traces.ts';
import { listAllContactFiles, type SearchedContactFile } from '../../ledger/runs/contact-files.ts';
import { inSnapshot } from '../../ledger/session.ts';
import { countryOf } from '../../platform/countries.ts';
import type { EngineContext } from '../context.ts';
import { openKeptContactFile } from '../plan/kept-contact-files.ts';
import { createSuppressedAddressReader } from '../suppressions/import-suppressions.ts';

/** A row of a kept contact file. */
export type FoundRow = {
  /** Its first line in the file. */
  readonly line: number;
  /** The last line before the next row; infinite for the last row. */
  readonly lastLine: number;
  /** By column; undefined: the row could not be read. */
  readonly values: Readonly<Record<string, string>> | undefined;
  /** The text of a row that could not be read. */
  readonly text: string;
};

export type SearchedRows = { readonly file: SearchedContactFile; readonly rows: readonly FoundRow[] };

/**
 * Finds a person's rows in all kept contact files: those with the address in any cell, and those of recipients with
 * it. Reads each file in constant memory.
 *
 * @param address normalised for comparison
 * @returns files with such a row
 */
export async function searchContactFiles(context: EngineContext, address: string): Promise<SearchedRows[]> {
  const { pool } = context.ledger;
  const known = new Set((await listLinesOfAddress(pool, address)).map(({ run, line }) => `${run} ${line}`));
  const found: SearchedRows[] = [];
  for (const file of await listAllContactFiles(pool)) {
    const isKnown = (line: number): boolean => known.has(`${file.keptBy} ${file.linesBefore + line}`);
    const rows = await findRows(context, file, address, isKnown);
    if (rows.length > 0) found.push({ file, rows });
  }
  return found;
}

async function findRows(
  { ledger }: EngineContext,
  file: SearchedContactFile,
  address: string,
  isKnown: (line: number) => boolean,
): Promise<FoundRow[]> {
  return inSnapshot(ledger.pool, async (client) => {
    const contacts = await openKeptContactFile(client, file);
    try {
      const holds = createRowTest(address, file, contacts.header);
      return await collectRows(contacts, (row) => isKnown(row.line) || holds(row));
    } finally {
      await contacts.close();
    }
  });
}

async function collectRows(contacts: ContactFile, isWanted: (row: Row) => boolean): Promise<FoundRow[]> {
  const found: FoundRow[] = [];
  let wanted: Row | undefined;
  const add = (lastLine: number): void => {
    if (wanted) found.push(toFoundRow(wanted, lastLine, contacts.header));
  };
  for await (const batch of contacts.batches) {
    for (const row of batch) {
      add(row.line - 1);
      wanted = isWanted(row) ? row : undefined;
    }
  }
  add(Number.POSITIVE_INFINITY);
  return found;
}

function toFoundRow(row: Row, lastLine: number, header: readonly string[]): FoundRow {
  const { line } = row;
  if (row.kind === 'broken') return { line, lastLine, values: undefined, text: row.text };
  const values = Object.fromEntries(header.map((name, index) => [name, row.values[index] ?? '']));
  return { line, lastLine, values, text: '' };
}

/** Parts of a text that can be e-mail addresses: what stands between spaces, commas and the like. */
function emailAddressesIn(text: string): string[] {
  return text.split(/[\s,;|"'<>()]/).filter((part) => part.includes('@'));
}

/** Parts of a text that can be phone numbers: digits and what people write between them. */
function phoneNumbersIn(text: string): string[] {
  return text
    .replaceAll('+', '\n+')
    .split(/[^+\d ().\u00a0/-]/)
    .map(untilLastDigit)
    .filter((part) => part !== '');
}

function untilLastDigit(text: string): string {
  let end = text.length;
  while (end > 0 && !/\d/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end).trim();
}

/** Digits at the end of a number that are compared before the number is read, which is slow. */
const comparedDigits = 6;

function createRowTest(
  address: string,
  { country, countryColumn }: SearchedContactFile,
  header: readonly string[],
): (row: Row) => boolean {
  const isEmail = address.includes('@');
  const read = createSuppressedAddressReader([isEmail ? 'email' : 'sms'], country ?? undefined);
  const digits = address.replace(/\D/g, '');
  const column = countryColumn === null ? -1 : header.indexOf(countryColumn);
  const canBe = (text: string): boolean =>
    isEmail ? text.includes('@') : text.replace(/\D/g, '').endsWith(digits.slice(-comparedDigits));
  const isAddress = (text: string, ownCountry: string): boolean => {
    if (!isEmail && text.replace(/\D/g, '') === digits) return true;
    const found = read(text, countryOf(ownCountry.trim()));
    return found.kind === 'valid' && found.address === address;
  };
  const holds = (text: string, ownCountry: string): boolean =>
    (canBe(text) && isAddress(text, ownCountry)) ||
    (isEmail ? emailAddressesIn : phoneNumbersIn)(text).some(
      (part) => canBe(part) && isAddress(part, ownCountry),
    );
  return (row) => {
    if (row.kind === 'broken') return holds(row.text, '');
    const ownCountry = row.values[column] ?? '';
    return row.values.some((value) => holds(value, ownCountry));
  };
}

/** Lines of a file, from 1; both ends belong to the range. */
export type LineRange = { readonly line: number; readonly lastLine: number };

const lineFeed = 10;
const carriageReturn = 13;

/**
 * Empties lines of a CSV file. All line ends stay, so every other row keeps its line number. A file that was packed
 * with gzip comes out unpacked.
 *
 * @param encoding as it was read; in UTF-16 a character has two bytes
 */
export async function* blankLines(
  bytes: AsyncGenerator<Buffer, void, undefined>,
  name: string,
  encoding: string,
  ranges: readonly LineRange[],
): AsyncGenerator<Buffer, void, undefined> {
  const first = await bytes.next();
  const whole = prepend(first, bytes);
  const width = encoding.startsWith('utf-16') ? 2 : 1;
  const low = encoding === 'utf-16be' ? 1 : 0;
  const blanker = createBlanker(ranges, width, low);
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of isGzip(first.value || undefined) ? unpack(whole, name) : whole) {
    const all = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const end = all.length - (all.length % width);
    rest = all.subarray(end);
    yield blanker(all.subarray(0, end));
  }
  if (rest.length > 0) yield rest;
}

/** Counts lines as `TextLines` does: LF, CRLF and CR end one. */
function createBlanker(ranges: readonly LineRange[], width: number, low: number): (bytes: Buffer) => Buffer {
  let line = 1;
  let afterReturn = false;
  let at = 0;
  return (bytes) => {
    const kept = Buffer.alloc(bytes.length);
    let length = 0;
    for (let index = 0; index < bytes.length; index += width) {
      const isOther = width === 2 && bytes[index + 1 - low] !== 0;
      const code = isOther ? -1 : bytes[index + low];
      if (afterReturn && code !== lineFeed) line++;
      const isLineEnd = code === lineFeed || code === carriageReturn;
      while ((ranges[at]?.lastLine ?? Number.POSITIVE_INFINITY) < line) at++;
      const isBlanked = (ranges[at]?.line ?? Number.POSITIVE_INFINITY) <= line;
      if (isLineEnd || !isBlanked) length += bytes.copy(kept, length, index, index + width);
      if (code === lineFeed) line++;
      afterReturn = code === carriageReturn;
    }
    return kept.subarray(0, length);
  };
}
