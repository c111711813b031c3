import Table from 'cli-table3';
import { printable } from './printable.ts';

export type Column<Row> = {
  readonly title: string;
  readonly value: (row: Row) => string | number;
  readonly align?: 'left' | 'right';
};

/** Rows as a table for the terminal. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], totals?: Row): string {
  const cells = (row: Row): string[] => columns.map(({ value }) => printable(String(value(row))));
  const drawn = new Table({
    head: columns.map(({ title }) => title),
    colAligns: columns.map(({ align }) => align ?? 'left'),
    style: { head: [], border: [], compact: true },
  });
  drawn.push(...rows.map(cells));
  if (totals)
    drawn.push(
      columns.map(() => ''),
      cells(totals),
    );
  return drawn.toString();
}
