import { stringify } from 'csv-stringify/sync';
import { inert } from '../inert.ts';
import { cellText, type Sheet, type SheetColumn } from './sheet.ts';

/** Titles and rows; texts are inert, numbers stay numbers. Without the totals, which whoever adds up would count twice. */
export async function* csvText<Row>({ columns, rows }: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  yield csvTitles(columns);
  for await (const batch of rows) {
    if (batch.length > 0) yield csvRows(columns, batch);
  }
}

export function csvTitles<Row>(columns: readonly SheetColumn<Row>[]): string {
  return stringify([columns.map(({ title }) => inert(title))]);
}

export function csvRows<Row>(columns: readonly SheetColumn<Row>[], rows: readonly Row[]): string {
  return stringify(rows.map((row) => columns.map(({ value }) => inert(cellText(value(row))))));
}
