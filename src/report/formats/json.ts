import { type CellKind, type CellValue, cellText, type Sheet, type SheetColumn } from './sheet.ts';

/** One object: what the report is, its rows one a line, its totals. Decimals are texts, integers numbers. */
export async function* formatJson<Row>(sheet: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, asOf, columns, rows, totals } = sheet;
  const write = createRowFormatter(columns);
  yield `${JSON.stringify({ title, subtitle, asOf }).slice(0, -1)},"rows":[`;
  let separator = '\n';
  for await (const batch of rows) {
    if (batch.length === 0) continue;
    yield separator + batch.map(write).join(',\n');
    separator = ',\n';
  }
  const sums = totals ? await totals() : [];
  yield `${separator === '\n' ? '' : '\n'}],"totals":[${sums.map(write).join(',')}]}\n`;
}

/** One object a row, without the totals, which whoever adds up would count twice. */
export async function* formatNdjson<Row>({
  columns,
  rows,
}: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  const write = createRowFormatter(columns);
  for await (const batch of rows) {
    if (batch.length > 0) yield `${batch.map(write).join('\n')}\n`;
  }
}

/** Written member by member: an object would put the columns `2` and `1` in the order of numbers. */
function createRowFormatter<Row>(columns: readonly SheetColumn<Row>[]): (row: Row) => string {
  const members = columns.map(({ key, kind, value }) => ({ name: JSON.stringify(key), kind, value }));
  return (row) =>
    `{${members.map(({ name, kind, value }) => `${name}:${formatJsonValue(kind, value(row))}`).join(',')}}`;
}

function formatJsonValue(kind: CellKind, value: CellValue): string {
  if (value === null) return 'null';
  // A number that a reader of JSON could not hold exactly stays a text.
  if (kind === 'integer' && Number.isSafeInteger(Number(value))) return String(Number(value));
  return JSON.stringify(cellText(value));
}
