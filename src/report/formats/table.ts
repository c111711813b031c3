import { printable } from '../printable.ts';
import { table } from '../table.ts';
import { toSeconds } from '../time.ts';
import { cellText, type Sheet, type SheetColumn } from './sheet.ts';

/** So many lines are for people; more are for a file. */
const shown = 1_000;

/** For the terminal: the title, the first thousand lines, how many more there are, and the totals of all. */
export async function* tableText<Row>(sheet: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, columns, rows, totals } = sheet;
  const cells = cellsOf(columns);
  const lines: (readonly string[])[] = [];
  let count = 0;
  for await (const batch of rows) {
    if (lines.length < shown) lines.push(...batch.slice(0, shown - lines.length).map(cells));
    count += batch.length;
  }
  const sums = (totals ? await totals() : []).map(cells);
  if (sums.length > 0)
    lines.push(
      columns.map(() => ''),
      ...sums,
    );

  yield `${[title, ...subtitle].map(printable).join('\n')}\n`;
  if (count === 0) yield 'No lines.\n';
  if (lines.length > 0) yield `${drawn(columns, lines)}\n`;
  if (count > shown)
    yield `${count - shown} more lines are not shown (${count} in all); other formats, such as csv, have them.\n`;
}

/** A few lines as they are, for texts that have several tables. */
export function linesTable<Row>(columns: readonly SheetColumn<Row>[], rows: readonly Row[]): string {
  return drawn(columns, rows.map(cellsOf(columns)));
}

function cellsOf<Row>(columns: readonly SheetColumn<Row>[]): (row: Row) => readonly string[] {
  return (row) =>
    columns.map(({ value }) => {
      const cell = value(row);
      return cell instanceof Date ? toSeconds(cell) : cellText(cell);
    });
}

function drawn<Row>(columns: readonly SheetColumn<Row>[], lines: readonly (readonly string[])[]): string {
  const columnsDrawn = columns.map(({ title, kind }, place) => {
    const right = kind === 'integer' || kind === 'decimal';
    const value = (line: readonly string[]): string => line[place] ?? '';
    return { title: printable(title), value, align: right ? ('right' as const) : ('left' as const) };
  });
  return table(columnsDrawn, lines);
}
