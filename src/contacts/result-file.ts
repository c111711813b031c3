import { activeText, resultFileColumns } from '../domain/files.ts';
import type { Row } from './rows.ts';

/** The column of a result file that names the run which the row was a contact of. */
export const originColumn = 'Volley Run' satisfies (typeof resultFileColumns)[number];

/** Columns that a result file may lack: the file where there was one, the run where an operator took it out. */
const optional: readonly string[] = ['Volley File', originColumn];

/** Whether a contact file is a result file of ours. */
export function isResultFile(header: readonly string[]): boolean {
  return resultFileColumns.every((column) => optional.includes(column) || header.includes(column));
}

/** Whether the first bytes of a file hold the header of a result file, in whatever encoding a spreadsheet saved it again. */
export function beginsResultFile(piece: Uint8Array): boolean {
  // A column of the contact file may have line breaks in its name, so the header may be more than a line.
  const text = Buffer.from(piece.subarray(0, maxHeader)).toString('latin1').replaceAll('\0', '');
  return resultFileColumns.every((column) => optional.includes(column) || text.includes(column));
}

/** Bytes in which the header of a result file is looked for. */
const maxHeader = 65_536;

/** A text as it was before it was made inert for spreadsheet programs (`report/escape-formula.ts`). */
export function unescapeText(text: string): string {
  return text.startsWith("'") && activeText.test(text) ? text.slice(1) : text;
}

/** The rows of a result file, with their texts as they were in the contact file. */
export function unescapeRows(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => (row.kind === 'row' ? { ...row, values: row.values.map(unescapeText) } : row));
}
