import Table from 'cli-table3';
import stringWidth from 'string-width';
import { type Column, type Columns, columnsFor, isNumber, noteText, shownText, titleOf } from './column.ts';
import { dropMinor } from './column-choice.ts';
import { withEvenDecimals } from './formats/even-decimals.ts';
import { printable } from './printable.ts';
import { plainScreen, type Screen, styled, toneOf } from './screen.ts';
import { screenZone } from './time.ts';

type RowText = readonly string[];

/** A list on a terminal. Drops minor columns on a narrow one, or prints records. */
export function formatTable<Row>(
  list: Columns<Row>,
  rows: readonly Row[],
  screen: Screen = plainScreen,
  totals: readonly Row[] = [],
): string {
  const zone = screenZone(screen);
  const columns = withEvenDecimals(columnsFor(list, 'screen'), [...rows, ...totals]);
  const titles = columns.map((column) => printable(titleOf(column, zone)));
  const plain = [...rows, ...totals].map((row) =>
    columns.map((column) => printable(textWithNote(column, row, zone))),
  );
  const cells = [...rows, ...totals].map((row, line) =>
    columns.map(({ kind, value }, index) => {
      const tone = kind === 'state' ? toneOf(String(value(row))) : undefined;
      return styled(plain[line]?.[index] ?? '', tone, screen);
    }),
  );
  const widths = columns.map(({ minor }, index) => ({
    width: Math.max(...[titles, ...plain].map((line) => stringWidth(line[index] ?? ''))),
    minor,
  }));
  const kept = fitColumns(widths, screen.width);
  if (kept === undefined) return formatRecords(titles, cells, screen);
  const keptOf = <Item>(line: readonly Item[]): Item[] => kept.flatMap((index) => line[index] ?? []);
  const drawn = new Table({
    head: keptOf(titles).map((title) => styled(title, 'title', screen)),
    colAligns: keptOf(columns).map((column) => (isNumber(column) ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
  });
  drawn.push(...cells.slice(0, rows.length).map(keptOf));
  if (totals.length > 0)
    drawn.push(
      kept.map(() => ''),
      ...cells.slice(rows.length).map(keptOf),
    );
  const omitted = titles.filter((_, index) => !kept.includes(index));
  return omitted.length === 0
    ? drawn.toString()
    : `${drawn.toString()}\nNot shown, because the terminal is too narrow: ${omitted.join(', ')}.`;
}

/** `paused (the credential was refused)`. */
function textWithNote<Row>(column: Column<Row>, row: Row, zone: string): string {
  const [text, note] = [shownText(column, row, zone), noteText(column, row, zone)];
  return note === '' ? text : `${text} (${note})`;
}

/** Each row as lines of title and value, without empty values. */
function formatRecords(titles: RowText, lines: readonly RowText[], screen: Screen): string {
  const indent = Math.max(...titles.map((title) => stringWidth(title))) + 2;
  const record = (line: RowText): string =>
    titles
      .map((title, index) => ({ title, value: line[index] ?? '' }))
      .filter(({ value }) => value !== '')
      .map(
        ({ title, value }) =>
          styled(title, 'title', screen) + ' '.repeat(indent - stringWidth(title)) + value,
      )
      .join('\n');
  return lines.map(record).join('\n\n');
}

type FittedColumn = {
  readonly width: number;
  /** From 1. The greatest is dropped first; columns without it stay. */
  readonly minor?: number | undefined;
};

/**
 * Chooses the columns that fit, each with a space on each side and borders.
 *
 * @param width in characters; undefined for any
 * @returns their indices; undefined if no choice fits, so that every row becomes several lines
 */
function fitColumns(
  columns: readonly FittedColumn[],
  width = Number.POSITIVE_INFINITY,
): readonly number[] | undefined {
  const isTooWide = (kept: readonly FittedColumn[]) =>
    kept.reduce((sum, column) => sum + column.width + 3, 1) > width;
  const kept = dropMinor(
    columns.map((column, index) => ({ ...column, index })),
    isTooWide,
  );
  return isTooWide(kept) ? undefined : kept.map(({ index }) => index);
}
