import Table from 'cli-table3';
import stringWidth from 'string-width';
import { printable } from './printable.ts';
import { plainScreen, type Screen, styled, type Tone } from './screen.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string | number;
  readonly align?: 'left' | 'right';
  /** On a narrow screen, columns with the greatest number are dropped first; columns without one stay. */
  readonly minor?: number | undefined;
  readonly tone?: (row: Row) => Tone | undefined;
};

type RowText = readonly string[];

/** Drops minor columns on a narrow screen, or prints records. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  totals: readonly Row[] = [],
  screen: Screen = plainScreen,
): string {
  const plain = [...rows, ...totals].map((row) => columns.map(({ value }) => printable(String(value(row)))));
  const cells = [...rows, ...totals].map((row, line) =>
    columns.map(({ tone }, index) => styled(plain[line]?.[index] ?? '', tone?.(row), screen)),
  );
  const widths = columns.map(({ title, minor }, index) => ({
    width: Math.max(...[title, ...plain.map((line) => line[index] ?? '')].map((text) => stringWidth(text))),
    minor,
  }));
  const fit = fitColumns(widths, screen.width);
  const titles = columns.map(({ title }) => title);
  if (fit.kind === 'records') return formatRecords(titles, cells, screen);
  const kept = fit.kept.flatMap((index) => columns[index] ?? []);
  const keptOf = (line: RowText): string[] => fit.kept.map((index) => line[index] ?? '');
  const text = drawTable(
    kept,
    cells.slice(0, rows.length).map(keptOf),
    cells.slice(rows.length).map(keptOf),
    screen,
  );
  const omitted = titles.filter((_, index) => !fit.kept.includes(index));
  return omitted.length === 0
    ? text
    : `${text}\nNot shown, because the terminal is too narrow: ${omitted.join(', ')}.`;
}

function drawTable(
  columns: readonly Pick<Column<never>, 'title' | 'align'>[],
  lines: readonly string[][],
  totals: readonly string[][],
  screen: Screen,
): string {
  const drawn = new Table({
    head: columns.map(({ title }) => styled(title, 'title', screen)),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    style: { head: [], border: [], compact: true },
  });
  drawn.push(...lines);
  if (totals.length > 0)
    drawn.push(
      columns.map(() => ''),
      ...totals,
    );
  return drawn.toString();
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

export type Fit =
  | { readonly kind: 'table'; readonly kept: readonly number[] }
  /** No choice of columns fits, so every row becomes several lines. */
  | { readonly kind: 'records' };

export type FittedColumn = {
  readonly width: number;
  /** From 1. The greatest is dropped first; columns without it stay. */
  readonly minor?: number | undefined;
};

/**
 * Chooses the columns that fit.
 *
 * @param width in characters; undefined for any
 */
function fitColumns(columns: readonly FittedColumn[], width: number | undefined): Fit {
  const kept = columns.map((column, index) => ({ ...column, index }));
  while (width !== undefined && sumWidths(kept) > width) {
    const lowestRank = kept.reduce((found, { minor = 0 }) => Math.max(found, minor), 0);
    if (lowestRank === 0) return { kind: 'records' };
    kept.splice(
      kept.findLastIndex(({ minor }) => minor === lowestRank),
      1,
    );
  }
  return { kind: 'table', kept: kept.map(({ index }) => index) };
}

/** A space on each side of a cell, and borders. */
function sumWidths(columns: readonly FittedColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width + 3, 1);
}
