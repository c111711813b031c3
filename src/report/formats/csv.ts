import { stringify } from 'csv-stringify/sync';
import { escapeFormula } from '../escape-formula.ts';
import { cellText, type Sheet, type SheetColumn } from './sheet.ts';

/** Texts are escaped, numbers stay numbers. No totals: a reader that adds up would count them twice. */
export async function* formatCsv<Row>({
  columns,
  rows,
}: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  yield formatCsvTitles(columns);
  for await (const batch of rows) {
    if (batch.length > 0) yield formatCsvRows(columns, batch);
  }
}

export function formatCsvTitles<Row>(columns: readonly SheetColumn<Row>[]): string {
  return stringify([columns.map(({ title }) => escapeFormula(title))]);
}

export function formatCsvRows<Row>(columns: readonly SheetColumn<Row>[], rows: readonly Row[]): string {
  return stringify(rows.map((row) => columns.map(({ value }) => escapeFormula(cellText(value(row))))));
}
