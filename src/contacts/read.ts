import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CsvError, parse } from 'csv-parse/sync';
import { InputError, type Problem } from '../domain.ts';
import { decodeFile, type Encoding } from './decode.ts';
import { longestRecord, type Scanned, Scanner } from './scan.ts';

export { type Encoding, encodings } from './decode.ts';

export const delimiters = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof delimiters)[number];

/** One row of a contact file. `line` is where it begins, counted from 1; the header and skipped lines count. */
export type Row =
  | { readonly kind: 'row'; readonly line: number; readonly values: readonly string[] }
  /** A row that cannot be read: why, and its text as it stands in the file. */
  | ({ readonly kind: 'broken'; readonly line: number; readonly text: string } & Fault);

/** What is wrong with a row, and the place of the value where that shows, from 0, if it is one. */
type Fault = { readonly detail: string; readonly place: number | undefined };

/** How a file is written; what is not said is found out. */
export type ReadingOptions = {
  readonly encoding?: Encoding | undefined;
  readonly delimiter?: Delimiter | undefined;
  /** Lines before the header. */
  readonly skipLines?: number;
};

export type ContactFile = {
  /** As errors show it. */
  readonly name: string;
  /** Column names, without the spaces around them. */
  readonly header: readonly string[];
  /** How the file turned out to be written. The encoding is certain when the file has been read. */
  readonly format: () => {
    readonly encoding: Encoding;
    readonly delimiter: Delimiter;
    readonly gzip: boolean;
  };
  /** The rows after the header, in their order; empty lines are passed over. Can be read once. */
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Lines read so far, the header and skipped ones among them. */
  readonly lines: () => number;
  /** For who does not read the rows to their end. */
  readonly close: () => Promise<void>;
};

/**
 * Opens a contact file and reads its header; rows are streamed, so memory does not grow with the file. LF, CRLF and CR
 * all end a line, even in one file; gzip is told by its first bytes. A row that cannot be read is handed on as broken,
 * and reading goes on at the next line.
 *
 * @param name the file's name as errors show it
 * @throws InputError when the file cannot be read, or its header is empty, or has an empty or repeated name. `batches`
 *   throws it for bytes that are not of the file's encoding, and when more than half of the rows are broken.
 */
export async function openContactFile(
  bytes: AsyncIterable<Buffer>,
  name: string,
  options: ReadingOptions = {},
): Promise<ContactFile> {
  const unpacked = await unpack(bytes).catch((error: unknown) => {
    throw readableError(error, name);
  });
  const decoded = decodeFile(unpacked.bytes, name, options.encoding);
  const pieces = readable(decoded.pieces, name)[Symbol.asyncIterator]();
  const scanner = new Scanner();
  try {
    const { record, delimiter } = await findHeader(scanner, pieces, name, options);
    const header = parseHeader(record, delimiter, name);
    return {
      name,
      header,
      format: () => ({ encoding: decoded.encoding(), delimiter, gzip: unpacked.gzip }),
      batches: readBatches(scanner, pieces, name, new RowReader(header.length, delimiter)),
      lines: () => scanner.line - 1,
      close: async () => {
        await pieces.return?.();
      },
    };
  } catch (error) {
    await pieces.return?.();
    throw error;
  }
}

/** Text with the line it begins on. */
type TextRecord = { readonly line: number; readonly text: string };

async function* readBatches(
  scanner: Scanner,
  pieces: AsyncIterator<string>,
  name: string,
  reader: RowReader,
): AsyncGenerator<readonly Row[], void, undefined> {
  try {
    // What came with the header is there already.
    for (let more = true; more; more = await addPiece(scanner, pieces)) {
      const rows = reader.read(scanner);
      if (rows.length > 0) yield rows;
    }
    reader.refuseMostlyBroken(name);
  } finally {
    await pieces.return?.();
  }
}

/** @returns whether there was one */
async function addPiece(scanner: Scanner, pieces: AsyncIterator<string>): Promise<boolean> {
  if (scanner.isLast) return false;
  const { done, value } = await pieces.next();
  scanner.add(done ? '' : value, done === true);
  return true;
}

/** Records without quotes are split here; those with quotes are for csv-parse, many at a time. */
class RowReader {
  readonly #columns: number;
  readonly #delimiter: Delimiter;
  readonly #firstBroken: Extract<Row, { kind: 'broken' }>[] = [];
  #rows = 0;
  #broken = 0;

  constructor(columns: number, delimiter: Delimiter) {
    this.#columns = columns;
    this.#delimiter = delimiter;
  }

  /** The rows of all that the scanner has whole. */
  read(scanner: Scanner): Row[] {
    const rows: Row[] = [];
    let quoted: QuotedRecord[] = [];
    for (let found = scanner.next(); found; found = scanner.next()) {
      const { line, start, end } = found;
      if (start === end) continue;
      if (found.kind === 'plain') {
        rows.push(this.#toRow(line, scanner.text.slice(start, end).split(this.#delimiter), scanner, found));
      } else if (found.kind === 'quoted' && found.lines === 1) {
        // Its place is kept; one call of csv-parse costs more than ten rows.
        quoted.push({ line, text: scanner.text.slice(start, end), place: rows.length });
        rows.push(unread);
        if (quoted.length >= quotedAtOnce) {
          this.#fill(rows, quoted);
          quoted = [];
        }
      } else {
        rows.push(this.#readLong(scanner, found));
      }
    }
    this.#fill(rows, quoted);
    this.#count(rows);
    return rows;
  }

  /** @throws InputError when most rows were broken: it is another kind of file, or was read in the wrong way. */
  refuseMostlyBroken(name: string): void {
    if (this.#broken * 2 <= this.#rows) return;
    const examples = this.#firstBroken.map(
      ({ line, detail }): Problem => ({ where: `${name}:${line}`, what: sentence(detail) }),
    );
    const what = `${this.#broken} of ${this.#rows} rows cannot be read. Is it a CSV file, and are "contacts.delimiter" (${delimiterNames[this.#delimiter]}) and "contacts.encoding" right?`;
    throw new InputError([{ where: name, what }, ...examples]);
  }

  /** A record over several lines, or a quote that is never closed: only its first line is given up. */
  #readLong(scanner: Scanner, found: Scanned): Row {
    const { kind, line, start, end } = found;
    if (kind !== 'quoted') {
      const detail = kind === 'long' ? tooLong : neverClosed;
      return broken(line, { detail, place: undefined }, scanner.text.slice(start, end));
    }
    const row = this.#parseOne(line, scanner.text.slice(start, end));
    if (row.kind === 'row') return row;
    return broken(line, row, scanner.text.slice(start, scanner.retryAfterFirstLine(found).end));
  }

  #fill(rows: Row[], quoted: readonly QuotedRecord[]): void {
    const parsed = parseRecords(quoted.map(({ text }) => text).join('\n'), this.#delimiter);
    const isWhole = Array.isArray(parsed) && parsed.length === quoted.length;
    for (const [index, { line, text, place }] of quoted.entries()) {
      const values = isWhole ? parsed[index] : undefined;
      const fits = values?.length === this.#columns;
      rows[place] = fits ? { kind: 'row', line, values } : this.#parseOne(line, text);
    }
  }

  #parseOne(line: number, text: string): Row {
    const parsed = parseRecords(text, this.#delimiter);
    if (!Array.isArray(parsed)) return broken(line, parsed, text);
    const [values = []] = parsed;
    return values.length === this.#columns && parsed.length === 1
      ? { kind: 'row', line, values }
      : broken(line, this.#wrongCount(values.length), text);
  }

  #toRow(line: number, values: readonly string[], { text }: Scanner, { start, end }: Scanned): Row {
    return values.length === this.#columns
      ? { kind: 'row', line, values }
      : broken(line, this.#wrongCount(values.length), text.slice(start, end));
  }

  #wrongCount(count: number): Fault {
    return { detail: `${count} values, where the header has ${this.#columns} columns`, place: undefined };
  }

  #count(rows: readonly Row[]): void {
    this.#rows += rows.length;
    for (const row of rows) {
      if (row.kind === 'row') continue;
      this.#broken++;
      if (this.#firstBroken.length < shownBroken) this.#firstBroken.push(row);
    }
  }
}

type QuotedRecord = TextRecord & { readonly place: number };

/** Stands where a quoted record's row will be. */
const unread: Row = { kind: 'broken', line: 0, detail: '', place: undefined, text: '' };

const quotedAtOnce = 100;
const shownBroken = 3;
const tooLong = `the row is over ${longestRecord / 1024 / 1024} MiB; is a quote (") in it never closed?`;

function broken(line: number, { detail, place }: Fault, text: string): Extract<Row, { kind: 'broken' }> {
  return { kind: 'broken', line, detail, place, text };
}

/** The values of records, or what is wrong with the first that is faulty. */
function parseRecords(text: string, delimiter: Delimiter): string[][] | Fault {
  try {
    return parse(text, {
      delimiter,
      record_delimiter: '\n',
      relax_column_count: true,
      max_record_size: 2 * longestRecord,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const place = typeof error['column'] === 'number' ? error['column'] : undefined;
    return { detail: csvErrors[error.code] ?? `not readable as CSV: ${error.message}`, place };
  }
}

const neverClosed = 'a quote (") that opens in this row is never closed';

const csvErrors: Readonly<{ [Code in string]?: string }> = {
  CSV_QUOTE_NOT_CLOSED: neverClosed,
  CSV_INVALID_CLOSING_QUOTE:
    'after a closing quote (") comes neither a delimiter nor the end of the line; a quote inside a quoted value is written twice',
  INVALID_OPENING_QUOTE:
    'a quote (") stands inside a value that does not begin with one; put the value in quotes, and write the quote inside twice',
};

/** The first record after the skipped lines; a line `sep=;` of a spreadsheet before it names the delimiter. */
async function findHeader(
  scanner: Scanner,
  pieces: AsyncIterator<string>,
  name: string,
  { skipLines = 0, delimiter }: ReadingOptions,
): Promise<{ readonly record: TextRecord; readonly delimiter: Delimiter }> {
  const nextRecord = async (): Promise<Scanned> => {
    for (;;) {
      const found = scanner.next();
      if (!found && !(await addPiece(scanner, pieces))) {
        throw new InputError([{ where: name, what: 'The file is empty; expected a header line.' }]);
      }
      if (!found) continue;
      if (found.line > skipLines && found.start < found.end) return found;
      // Quotes in skipped lines mean nothing.
      if (found.lines > 1) scanner.retryAfterFirstLine(found);
    }
  };
  let found = await nextRecord();
  const hint = /^sep=([,;\t|])$/i.exec(scanner.text.slice(found.start, found.end))?.[1];
  const hinted = delimiters.find((candidate) => candidate === hint);
  if (hinted) found = await nextRecord();
  const { kind, line, start, end } = found;
  const text = scanner.text.slice(start, end);
  if (kind === 'unclosed' || kind === 'long') {
    const what = `The header line cannot be read: ${kind === 'long' ? tooLong : neverClosed}.`;
    throw new InputError([{ where: `${name}:${line}`, what }]);
  }
  return {
    record: { line, text },
    delimiter: delimiter ?? hinted ?? detectDelimiter(text, `${name}:${line}`),
  };
}

const delimiterNames: Readonly<{ [Each in Delimiter]: string }> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
};

/** The one that is most frequent in the header, outside quotes. */
function detectDelimiter(header: string, where: string): Delimiter {
  const unquoted = header.replace(/"(?:[^"]|"")*"/g, '');
  const counts = delimiters
    .map((delimiter) => ({ delimiter, count: unquoted.split(delimiter).length - 1 }))
    .sort((one, other) => other.count - one.count);
  const [first, second] = counts;
  if (!first || first.count === 0) return ',';
  if (second?.count === first.count) {
    const what = `The header has as many of ${delimiterNames[first.delimiter]} as of ${delimiterNames[second.delimiter]}; say which separates the columns with "contacts.delimiter".`;
    throw new InputError([{ where, what }]);
  }
  return first.delimiter;
}

function parseHeader({ line, text }: TextRecord, delimiter: Delimiter, name: string): readonly string[] {
  const where = `${name}:${line}`;
  const parsed = parseRecords(text, delimiter);
  if (!Array.isArray(parsed) || parsed.length !== 1) {
    const detail = Array.isArray(parsed) ? 'it is no CSV' : parsed.detail;
    throw new InputError([{ where, what: `The header line cannot be read: ${detail}.` }]);
  }
  const header = (parsed[0] ?? []).map((column) => column.trim());
  const problems = header.flatMap((column, index): Problem[] => {
    const at = `${where}:${index + 1}`;
    if (column === '') return [{ where: at, what: `Column ${index + 1} has no name in the header line.` }];
    const first = header.indexOf(column);
    if (first === index) return [];
    const what = `Columns ${first + 1} and ${index + 1} are both named "${column}"; give each its own name.`;
    return [{ where: at, what }];
  });
  if (problems.length > 0) throw new InputError(problems);
  return header;
}

/** The bytes of a file, unpacked where they are gzip. */
async function unpack(
  source: AsyncIterable<Buffer>,
): Promise<{ readonly bytes: AsyncIterable<Buffer>; readonly gzip: boolean }> {
  const chunks = source[Symbol.asyncIterator]();
  let beginning: Buffer = Buffer.alloc(0);
  while (beginning.length < 2) {
    const { done, value } = await chunks.next();
    if (done) break;
    beginning = Buffer.concat([beginning, value]);
  }
  const rest = async function* (): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield beginning;
      for (;;) {
        const { done, value } = await chunks.next();
        if (done) return;
        yield value;
      }
    } finally {
      await chunks.return?.();
    }
  };
  const gzip = beginning[0] === 0x1f && beginning[1] === 0x8b;
  return { bytes: gzip ? gunzip(rest()) : rest(), gzip };
}

async function* gunzip(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const source = Readable.from(packed);
  const unpacked = createGunzip();
  source.on('error', (error) => unpacked.destroy(error));
  source.pipe(unpacked);
  try {
    for await (const chunk of unpacked) yield chunk;
  } finally {
    source.destroy();
  }
}

const fileErrors: Readonly<{ [Code in string]?: string }> = {
  ENOENT: 'The contact file does not exist.',
  EACCES: 'The contact file may not be read by this user.',
  EISDIR: 'This is a folder; expected a CSV file.',
  Z_DATA_ERROR: 'The file is gzip, and damaged.',
  Z_BUF_ERROR: 'The file is gzip, and its end is missing.',
};

async function* readable(
  pieces: AsyncIterable<string>,
  name: string,
): AsyncGenerator<string, void, undefined> {
  try {
    yield* pieces;
  } catch (error) {
    throw readableError(error, name);
  }
}

function readableError(error: unknown, name: string): unknown {
  const what = error instanceof Error && 'code' in error ? fileErrors[String(error.code)] : undefined;
  return what === undefined ? error : new InputError([{ where: name, what }], { cause: error });
}

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
