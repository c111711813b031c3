import { type Delimiter, delimiters } from './csv.ts';

export type LikelyHeader = { readonly line: number; readonly columns: number };

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
export function findHeaderBelow(first: string, line: number, following: string): LikelyHeader | undefined {
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
