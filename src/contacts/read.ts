import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { InputError } from '../domain.ts';
import { onlyUtf8 } from './utf8.ts';

/** One row of a contact file. `line` is where it begins, counted from 1; the header counts. */
export type Row = { readonly line: number; readonly values: readonly string[] };

export type ContactFile = {
  /** Column names, without the spaces around them. */
  readonly header: readonly string[];
  /** The rows after the header, in their order; blank lines are passed over. Can be read once. */
  readonly rows: AsyncIterable<Row>;
};

/**
 * Opens a contact file and reads its header; rows are streamed, so memory does not grow with the file.
 * UTF-8 with or without BOM; comma; LF, CRLF and CR all end a line, even in one file.
 *
 * @param name the file's name as errors show it
 * @throws InputError when the file cannot be read, or its header is empty, or has an empty or repeated name.
 */
export async function openContactFile(path: string, name: string): Promise<ContactFile> {
  const records = readRecords(createReadStream(path), name);
  const first = await records.next();
  if (first.done) throw new InputError([{ where: name, what: 'The file is empty; expected a header line.' }]);

  const header = first.value.values.map((column) => column.trim());
  checkHeader(header, `${name}:${first.value.line}`);
  return { header, rows: records };
}

async function* readRecords(
  source: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Row, void, undefined> {
  let nextLine = 1;
  const lines = new WeakMap<readonly string[], number>();
  const parser = parse({
    bom: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: maxRowSize,
    // Called in the order of the file, before rows are buffered; when the parser fails, `nextLine` is the row it is in.
    on_record: (values: string[]) => {
      lines.set(values, nextLine);
      nextLine += 1 + values.reduce((breaks, value) => breaks + countLineBreaks(value), 0);
      const blank = values.length === 1 && values[0] === '';
      return blank ? null : values;
    },
  });
  const bytes = Readable.from(onlyUtf8(source, name), { objectMode: false });
  bytes.on('error', (error) => parser.destroy(error));
  bytes.pipe(parser);
  try {
    for await (const values of parser) yield { line: lines.get(values) ?? nextLine, values };
  } catch (error) {
    throw readableError(error, name, nextLine);
  } finally {
    bytes.destroy();
  }
}

/** Characters. A quote that is never closed would otherwise take the whole file for one value. */
const maxRowSize = 1_048_576;

/** Line ends that stand inside quotes; the others end rows. */
function countLineBreaks(value: string): number {
  return /[\r\n]/.test(value) ? (value.match(/\r\n|\n|\r/g)?.length ?? 0) : 0;
}

function checkHeader(header: readonly string[], where: string): void {
  const problems = header.flatMap((column, index) => {
    if (column === '') {
      return [
        { where: `${where}:${index + 1}`, what: `Column ${index + 1} has no name in the header line.` },
      ];
    }
    const first = header.indexOf(column);
    return first < index
      ? [
          {
            where: `${where}:${index + 1}`,
            what: `Columns ${first + 1} and ${index + 1} are both named "${column}"; give each its own name.`,
          },
        ]
      : [];
  });
  if (problems.length > 0) throw new InputError(problems);
}

const csvErrors: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'A quote (") that opens in this row is never closed.',
  CSV_INVALID_CLOSING_QUOTE:
    'Expected a comma or the end of the line after a closing quote ("). A quote inside a quoted value is written twice.',
  INVALID_OPENING_QUOTE:
    'A quote (") stands inside a value that does not begin with one. Put the value in quotes, and write the quote inside twice.',
  CSV_MAX_RECORD_SIZE: 'This row is over 1 MiB. Is a quote (") in it never closed?',
};

const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'The contact file does not exist.',
  EACCES: 'The contact file may not be read by this user.',
  EISDIR: 'This is a folder; expected a CSV file.',
};

function readableError(error: unknown, name: string, line: number): unknown {
  if (error instanceof CsvError) {
    const column = typeof error['column'] === 'number' ? `:${error['column'] + 1}` : '';
    const what = csvErrors[error.code] ?? `Not readable as CSV: ${error.message}.`;
    return new InputError([{ where: `${name}:${line}${column}`, what }], { cause: error });
  }
  const what = error instanceof Error && 'code' in error ? fileErrors[String(error.code)] : undefined;
  return what === undefined ? error : new InputError([{ where: name, what }], { cause: error });
}
