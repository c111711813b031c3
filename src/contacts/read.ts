import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { CsvError, type Info, parse } from 'csv-parse';
import { InputError } from '../domain.ts';

/** One row of a contact file. `line` is where it begins, counted from 1; the header counts. */
export type Row = { readonly line: number; readonly values: readonly string[] };

export type ContactFile = {
  readonly header: readonly string[];
  /** The rows after the header, in their order; blank lines are passed over. Can be read once. */
  readonly rows: AsyncIterable<Row>;
};

/**
 * Opens a contact file and reads its header; rows are streamed, so memory does not grow with the file.
 * UTF-8 with or without BOM; comma; any line end (LF, CRLF, CR), found from the first.
 *
 * @param name the file's name as errors show it
 * @throws InputError when the file cannot be read, or its header is empty, or has an empty or repeated name.
 */
export async function openContactFile(path: string, name: string): Promise<ContactFile> {
  const records = readRecords(createReadStream(path), name);
  const first = await records.next();
  if (first.done) throw new InputError([{ where: name, what: 'The file is empty; expected a header line.' }]);

  const header = first.value.values;
  checkHeader(header, `${name}:${first.value.line}`);
  return { header, rows: records };
}

async function* readRecords(source: Readable, name: string): AsyncGenerator<Row, void, undefined> {
  const parser = parse({ bom: true, info: true, relax_column_count: true, max_record_size: 1_048_576 });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  let previousLine = 0;
  try {
    for await (const item of parser) {
      const { record, info }: { record: string[]; info: Info } = item;
      const line = previousLine + 1;
      previousLine = info.lines;
      const blank = record.length === 1 && record[0] === '';
      if (!blank) yield { line, values: record };
    }
  } catch (error) {
    throw readableError(error, name);
  } finally {
    source.destroy();
  }
}

function checkHeader(header: readonly string[], where: string): void {
  const problems = header.flatMap((column, index) => {
    if (column.trim() === '') {
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

function readableError(error: unknown, name: string): unknown {
  if (error instanceof CsvError) {
    const place = typeof error['lines'] === 'number' ? `${name}:${error['lines']}` : name;
    const column = typeof error['column'] === 'number' ? `:${error['column'] + 1}` : '';
    return new InputError([{ where: `${place}${column}`, what: `Not readable as CSV: ${error.message}` }], {
      cause: error,
    });
  }
  if (error instanceof Error && 'code' in error) {
    const reasons: Record<string, string> = {
      ENOENT: 'The contact file does not exist.',
      EACCES: 'The contact file may not be read by this user.',
      EISDIR: 'This is a folder; expected a CSV file.',
    };
    const what = reasons[String(error.code)];
    if (what) return new InputError([{ where: name, what }], { cause: error });
  }
  return error;
}
