import { stringify } from 'csv-stringify/sync';
import { inert } from '../inert.ts';
import { cellText, type Sheet } from './sheet.ts';

/** Titles and rows; texts are inert, numbers stay numbers. Without the totals, which whoever adds up would count twice. */
export async function* csvText<Row>({ columns, rows }: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  yield stringify([columns.map(({ title }) => inert(title))]);
  for await (const batch of rows) {
    if (batch.length > 0)
      yield stringify(batch.map((row) => columns.map(({ value }) => inert(cellText(value(row))))));
  }
}
