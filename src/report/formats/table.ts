import { printable } from '../printable.ts';
import { table } from '../table.ts';
import { toSeconds } from '../time.ts';
import { cellText, type Sheet } from './sheet.ts';

/** So many lines are for people; more are for a file. */
const shown = 1_000;

/** For the terminal: the title, the first thousand lines, how many more there are, and the totals of all. */
export async function* tableText<Row>(sheet: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, columns, rows, totals } = sheet;
  const cells = (row: Row): readonly string[] =>
    columns.map(({ value }) => {
      const cell = value(row);
      return cell instanceof Date ? toSeconds(cell) : cellText(cell);
    });
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
  if (lines.length > 0) {
    const drawn = columns.map(({ title: head, kind }, place) => {
      const right = kind === 'integer' || kind === 'decimal';
      const value = (line: readonly string[]): string => line[place] ?? '';
      return { title: printable(head), value, align: right ? ('right' as const) : ('left' as const) };
    });
    yield `${table(drawn, lines)}\n`;
  }
  if (count > shown)
    yield `${count - shown} more lines are not shown (${count} in all); other formats, such as csv, have them.\n`;
}
