import { stringify } from 'csv-stringify/sync';
import { InputError } from '../../domain/problems.ts';
import { createEncoder } from '../../platform/encodings.ts';
import { type Columns, cellText, titleOf } from '../column.ts';
import { escapeFormula } from '../printable.ts';
import type { CsvForm, Sheet } from './sheet.ts';

/** Texts are escaped, numbers stay numbers. No totals: a reader that adds up would count them twice. */
export async function* formatCsv<Row>({
  columns,
  rows,
  csv,
}: Sheet<Row>): AsyncGenerator<string | Uint8Array, void, undefined> {
  const encode = csv ? encoderOf(csv) : (text: string) => text;
  yield encode(formatCsvTitles(columns, csv?.delimiter));
  for await (const batch of rows) {
    if (batch.length > 0) yield encode(formatCsvRows(columns, batch, csv?.delimiter));
  }
}

function encoderOf({ encoding, byteOrderMark }: CsvForm): (text: string) => string | Uint8Array {
  // Text stays text, so that a terminal can show it.
  if (encoding === 'utf-8' && !byteOrderMark) return (text) => text;
  return createEncoder(encoding, byteOrderMark, (character) => {
    const what = `The encoding ${encoding} does not have the character "${character}". Write the file with --encoding utf-8.`;
    return new InputError([{ where: 'encoding', what }]);
  });
}

export function formatCsvTitles<Row>(columns: Columns<Row>, delimiter = ','): string {
  return stringify([columns.map((column) => escapeFormula(titleOf(column)))], { delimiter });
}

export function formatCsvRows<Row>(columns: Columns<Row>, rows: readonly Row[], delimiter = ','): string {
  return stringify(
    rows.map((row) => columns.map(({ value }) => escapeFormula(cellText(value(row))))),
    { delimiter },
  );
}
