import { columnLetters } from '../platform/sheet-cells.ts';

/** What a workbook says of a cell beside its text. `detail` completes a sentence about the cell. */
export type CellNote =
  | { readonly kind: 'number' | 'date' }
  | { readonly kind: 'fault'; readonly detail: string };

/** The notes of a row by column; undefined: a text, or nothing. */
export type CellNotes = readonly (CellNote | undefined)[];

type NotedRow = { readonly line: number; readonly notes?: CellNotes | undefined };

/** Why a cell has no value that can be used. Completes a sentence; undefined: it has one. */
export function cellFault({ line, notes }: NotedRow, column: number): string | undefined {
  const note = notes?.[column];
  return note?.kind === 'fault' ? `the cell ${columnLetters(column)}${line} ${note.detail}` : undefined;
}

/**
 * What a spreadsheet did to an address in a cell that is no text. Completes a sentence about the address; empty:
 * nothing.
 */
export function cellDamage({ notes }: NotedRow, column: number): string {
  switch (notes?.[column]?.kind) {
    case 'number':
      return '; its cell is a number, so leading zeros are lost: format the column as text, and enter the zeros again';
    case 'date':
      return '; its cell is a date, as spreadsheets make of codes: format the column as text, and enter the value again';
    default:
      return '';
  }
}
