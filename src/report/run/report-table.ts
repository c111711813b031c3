import type { AsOf } from '../../domain/replica.ts';
import type { Column, Columns } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';

/** One of several tables of a report, with the numbers of its rows as rows. */
export type ReportTable = {
  /** Unique in the report; at most 24 letters, for its worksheet. */
  readonly name: string;
  readonly title: string;
  readonly columns: Columns<number>;
  readonly lines: readonly number[];
};

/** Hides the type of the rows, so that tables of different rows stand in one report. */
export function createReportTable<Row>(
  name: string,
  title: string,
  columns: Columns<Row>,
  rows: readonly Row[],
): ReportTable {
  return {
    name,
    title,
    columns: columns.map((column) => ofNumbers(column, rows)),
    lines: rows.map((_, index) => index),
  };
}

function ofNumbers<Row>(
  { key, title, kind, value, shown }: Column<Row>,
  rows: readonly Row[],
): Column<number> {
  const rowAt = (index: number): Row => {
    const row = rows[index];
    if (row === undefined) throw new Error(`there is no row ${index}`);
    return row;
  };
  return {
    key,
    title,
    kind,
    value: (index) => value(rowAt(index)),
    shown: shown && ((index) => shown(rowAt(index))),
  };
}

export function toSheet({ name, columns, lines }: ReportTable, asOf: AsOf): Sheet<number> {
  async function* rows(): AsyncGenerator<readonly number[], void, undefined> {
    yield lines;
  }
  return { title: name, subtitle: [], asOf, columns, rows: rows() };
}
