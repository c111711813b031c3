import { type CellKind, type CellValue, type Columns, cellText, columnsFor } from '../column.ts';
import { asOfFields } from '../time.ts';
import type { Sheet } from './sheet.ts';

/** One object: title, rows (one per line), totals. Decimals are strings, integers numbers. */
export async function* formatJson<Row>(sheet: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, asOf, columns, rows, totals } = sheet;
  const write = createRowFormatter(columns);
  yield `${JSON.stringify({ title, subtitle, ...asOfFields(asOf) }).slice(0, -1)},"rows":[`;
  let separator = '\n';
  for await (const batch of rows) {
    if (batch.length === 0) continue;
    yield separator + batch.map(write).join(',\n');
    separator = ',\n';
  }
  const sums = totals ? await totals() : [];
  yield `${separator === '\n' ? '' : '\n'}],"totals":[${sums.map(write).join(',')}]}\n`;
}

/** One object per row. No totals: a reader that adds up would count them twice. */
export async function* formatNdjson<Row>({
  columns,
  rows,
}: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  const write = createRowFormatter(columns);
  for await (const batch of rows) {
    if (batch.length > 0) yield `${batch.map(write).join('\n')}\n`;
  }
}

/** An object literal would reorder columns named `2` and `1`. */
function createRowFormatter<Row>(columns: Columns<Row>): (row: Row) => string {
  const members = columns.map(({ key, kind, value }) => ({ name: JSON.stringify(key), kind, value }));
  return (row) =>
    `{${members.map(({ name, kind, value }) => `${name}:${formatJsonValue(kind, value(row))}`).join(',')}}`;
}

function formatJsonValue(kind: CellKind, value: CellValue): string {
  if (value === null) return 'null';
  // JSON readers cannot hold larger integers exactly.
  if (kind === 'integer' && Number.isSafeInteger(Number(value))) return String(Number(value));
  return JSON.stringify(cellText(value));
}

/** A line of a list, as the API answers it and `--json` prints it. */
export function toRecord<Row>(columns: Columns<Row>, row: Row): Record<string, unknown> {
  return Object.fromEntries(
    columnsFor(columns, 'json').map(({ key, value, json }) => [key, (json ?? value)(row)]),
  );
}
