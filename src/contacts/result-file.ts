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

/** A text as it was before it was made inert for spreadsheet programs (`report/inert.ts`). */
export function asBefore(text: string): string {
  return text.startsWith("'") && activeText.test(text) ? text.slice(1) : text;
}

/** The rows of a result file, with their texts as they were in the contact file. */
export function rowsAsBefore(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => (row.kind === 'row' ? { ...row, values: row.values.map(asBefore) } : row));
}
