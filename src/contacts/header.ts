import { InputError } from '../domain/problems.ts';
import { count } from '../platform/sentence.ts';
import { type Delimiter, delimiters, maxRecordSize, parseRecords } from './csv.ts';
import type { TextLines } from './text-lines.ts';

/** More than any real table has; each row is checked column by column. */
export const maxColumns = 2_000;

type Header = { readonly names: readonly string[]; readonly delimiter: Delimiter };

type HeaderOptions = { readonly delimiter?: Delimiter | undefined; readonly skipLines?: number };

/**
 * Reads up to the header; `lines` then stands at the first row.
 *
 * @param more appends the next piece of text; false at the end
 * @throws InputError when the header is missing or unreadable, or a column name is empty or repeated
 */
export async function readHeader(
  lines: TextLines,
  more: () => Promise<boolean>,
  name: string,
  { delimiter: named, skipLines = 0 }: HeaderOptions,
): Promise<Header> {
  const fail = (line: number, what: string): InputError =>
    new InputError([{ where: `${name}:${line}`, what }]);
  const next = async (): Promise<HeaderLine | undefined> => {
    const line = await nextLine(lines, more);
    if (line && line.text.length > maxRecordSize) {
      throw fail(
        line.number,
        'The line has more than 1,048,576 characters; expected the header, or a line before it.',
      );
    }
    return line;
  };

  let separator: string | undefined;
  let line = await next();
  for (; line; line = await next()) {
    const separatorHere = line.number === 1 ? separatorLine.exec(line.text)?.[1] : undefined;
    separator ??= separatorHere;
    if (line.number > skipLines && separatorHere === undefined && line.text !== '') break;
  }
  if (!line) throw new InputError([{ where: name, what: noHeader(skipLines) }]);

  const first = line.number;
  let record = line.text;
  for (let end = line.end; hasOpenQuote(record) && record.length <= maxRecordSize; ) {
    const following = await next();
    if (!following) break;
    record += end + following.text;
    ({ end } = following);
  }
  const delimiter = named ?? delimiterOf(separator, name) ?? findDelimiter(record, `${name}:${first}`);
  const { records, fault } = parseRecords([record], delimiter);
  if (fault) {
    const what = `In the header, ${fault.what}.`;
    throw new InputError([{ where: `${name}:${first}:${fault.column + 1}`, what }]);
  }
  const names = (records[0] ?? []).map((column) => column.trim());
  if (names.length > maxColumns) throw fail(first, tooManyColumns(names.length.toLocaleString('en')));
  const below = findHeaderBelow(record, lines.line - 1, lines.text.slice(lines.position));
  if (below) throw fail(first, looksLikeTitle(below, 'line'));
  checkNames(names, (column) => `${name}:${first}:${column + 1}`);
  return { names, delimiter };
}

export function tooManyColumns(columns: string): string {
  return `The header has ${columns} columns; expected at most ${maxColumns.toLocaleString('en')}. If these are rows, transpose the table; otherwise remove columns that the campaign does not use.`;
}

export function looksLikeTitle({ line, columns }: LikelyHeader, word: 'line' | 'row'): string {
  return `This ${word} looks like a title: ${word} ${line} below it has ${columns} column names. Skip the ${word}s before that one with "contacts.skipLines: ${line - 1}".`;
}

type HeaderLine = { readonly text: string; readonly end: string; readonly number: number };

async function nextLine(lines: TextLines, more: () => Promise<boolean>): Promise<HeaderLine | undefined> {
  for (;;) {
    const { position, text, line: number } = lines;
    const end = lines.endOfLine(position);
    const isThere = lines.isWhole(end) ? position < text.length : end - position > maxRecordSize;
    if (isThere) {
      lines.advance(end);
      return { text: text.slice(position, end), end: text.slice(end, lines.position), number };
    }
    if (!(await more())) return undefined;
  }
}

function noHeader(skipLines: number): string {
  return skipLines === 0
    ? 'The file is empty; expected a header line.'
    : `The file has nothing after the ${count(skipLines, 'line')} of "contacts.skipLines"; expected a header line.`;
}

/** Excel's way to declare the delimiter. */
const separatorLine = /^"?sep=(.)"?$/i;

function delimiterOf(separator: string | undefined, name: string): Delimiter | undefined {
  if (separator === undefined) return undefined;
  const delimiter = delimiters.find((known) => known === separator);
  if (delimiter !== undefined) return delimiter;
  const what = `"sep=${separator}" is not a supported delimiter; expected a comma, a semicolon, a tab or a pipe.`;
  throw new InputError([{ where: `${name}:1`, what }]);
}

const delimiterNames: Readonly<Record<Delimiter, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'pipes',
};

/** The most frequent delimiter outside quotes; a header without any has one column. */
function findDelimiter(record: string, where: string): Delimiter {
  const unquoted = record.replaceAll(/"[^"]*"?/g, '');
  const counts = delimiters.map((delimiter) => ({ delimiter, count: unquoted.split(delimiter).length - 1 }));
  const [commonest, second] = counts.toSorted((one, other) => other.count - one.count);
  if (commonest === undefined || commonest.count === 0) return ',';
  if (second?.count !== commonest.count) return commonest.delimiter;
  const what = `The header has as many ${delimiterNames[commonest.delimiter]} as ${delimiterNames[second.delimiter]}, so its delimiter is ambiguous; set it with "contacts.delimiter".`;
  throw new InputError([{ where, what }]);
}

function hasOpenQuote(record: string): boolean {
  return record.split('"').length % 2 === 0;
}

/**
 * @param placeOf a column, by its index
 * @throws InputError for every column name that is empty or repeated
 */
export function checkNames(header: readonly string[], placeOf: (column: number) => string): void {
  const firsts = new Map<string, number>();
  const problems = header.flatMap((column, index) => {
    if (column === '')
      return [{ where: placeOf(index), what: `Column ${index + 1} has no name in the header line.` }];
    const first = firsts.get(column);
    if (first === undefined) {
      firsts.set(column, index);
      return [];
    }
    const what = `Columns ${first + 1} and ${index + 1} are both named "${column}"; give each its own name.`;
    return [{ where: placeOf(index), what }];
  });
  if (problems.length > 0) throw new InputError(problems);
}

type LikelyHeader = { readonly line: number; readonly columns: number };

/** Lines examined below the supposed header. */
const examined = 20;

/**
 * Finds the header below a title ("Customers, November 2026"), which some exports have. A title has few cells; the
 * lines below it all have many, and the first of them contains only names.
 *
 * @param first the supposed header
 * @param line its number
 * @param following the available text after it
 */
function findHeaderBelow(first: string, line: number, following: string): LikelyHeader | undefined {
  const below = following
    .split(/\r\n|\n|\r/)
    .slice(0, examined)
    .map((text, index) => ({ line: line + 1 + index, text }))
    .filter(({ text }) => text.trim() !== '');
  const delimiter = commonest(below.map(({ text }) => text));
  if (delimiter === undefined) return undefined;
  return findHeaderRow(
    cellsOf(first, delimiter),
    below.map((row) => ({ line: row.line, cells: cellsOf(row.text, delimiter) })),
  );
}

/** @param rows those below the supposed header, without empty ones; the first of them are examined */
export function findHeaderRow(
  first: readonly string[],
  below: readonly { readonly line: number; readonly cells: readonly string[] }[],
): LikelyHeader | undefined {
  const rows = below.slice(0, examined);
  const filled = first.filter((cell) => cell.trim() !== '').length;
  const columns = Math.max(...rows.map(({ cells }) => cells.length));
  const header = rows.find(({ cells }) => cells.length === columns && cells.every(isName));
  const behind = rows.filter((row) => header !== undefined && row.line > header.line);
  const isTitle = columns >= 3 && filled * 2 <= columns;
  return isTitle &&
    header !== undefined &&
    behind.length > 0 &&
    behind.every(({ cells }) => cells.length === columns)
    ? { line: header.line, columns }
    : undefined;
}

/** The last line can be incomplete. */
function commonest(texts: readonly string[]): Delimiter | undefined {
  const counted = delimiters.map((delimiter) => ({
    delimiter,
    count: texts.reduce((sum, text) => sum + cellsOf(text, delimiter).length - 1, 0),
  }));
  return counted.filter(({ count }) => count > 0).toSorted((one, other) => other.count - one.count)[0]
    ?.delimiter;
}

function cellsOf(text: string, delimiter: Delimiter): string[] {
  return text
    .replaceAll(/"[^"]*"/g, (quoted) => quoted.slice(1, -1).replaceAll(delimiter, ' '))
    .split(delimiter);
}

/** A column name is text, and neither a number nor an address. */
function isName(cell: string): boolean {
  return /\p{L}/u.test(cell) && !cell.includes('@');
}
