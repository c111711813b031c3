import { activeText, resultFileColumns } from '../domain/files.ts';
import type { Row } from './rows.ts';

/** Whether a contact file is a result file of ours. Only where there were several files does it say which. */
export function isResultFile(header: readonly string[]): boolean {
  return resultFileColumns.every((column) => column === 'Volley File' || header.includes(column));
}

/** A text as it was before it was made inert for spreadsheet programs (`report/inert.ts`). */
export function asBefore(text: string): string {
  return text.startsWith("'") && activeText.test(text) ? text.slice(1) : text;
}

/** The rows of a result file, with their texts as they were in the contact file. */
export function rowsAsBefore(rows: readonly Row[]): readonly Row[] {
  return rows.map((row) => (row.kind === 'row' ? { ...row, values: row.values.map(asBefore) } : row));
}
