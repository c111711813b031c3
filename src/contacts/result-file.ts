import { activeText, resultFileColumns } from '../domain/files.ts';
import type { Row } from './rows.ts';

/** The column of a result file that names a row's earlier run. */
export const originColumn = 'Volley Run' satisfies (typeof resultFileColumns)[number];

/**
 * Columns that a result file can lack: the file when there was one, the variant of a run without any, and the run when an
 * operator removed it.
 */
const optional: readonly string[] = ['Volley File', 'Volley Variant', originColumn];

export function isResultFile(header: readonly string[]): boolean {
  return resultFileColumns.every((column) => optional.includes(column) || header.includes(column));
}

/** Whether a file begins with a result file's header, in whatever encoding a spreadsheet saved it. */
export function beginsResultFile(piece: Uint8Array): boolean {
  // Column names can contain line breaks, so the header can have several lines.
  const text = Buffer.from(piece.subarray(0, maxHeader)).toString('latin1').replaceAll('\0', '');
  return resultFileColumns.every((column) => optional.includes(column) || text.includes(column));
}

/** Bytes searched. */
const maxHeader = 65_536;

/** Removes the escape for spreadsheets (`report/escape-formula.ts`). */
export function unescapeText(text: string): string {
  return text.startsWith("'") && activeText.test(text) ? text.slice(1) : text;
}

export function unescapeRows(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => (row.kind === 'row' ? { ...row, values: row.values.map(unescapeText) } : row));
}
