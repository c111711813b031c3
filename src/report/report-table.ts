import type { CellKind, CellValue, Sheet, SheetColumn } from './formats/sheet.ts';

/** One of several tables of a report. */
export type ReportTable = {
  /** Unique in the report; at most 24 letters, for its worksheet. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly SheetColumn<Cells>[];
  readonly lines: readonly Cells[];
};
export type Cells = readonly CellValue[];

export function toSheet({ name, columns, lines }: ReportTable, asOf: Date): Sheet<Cells> {
  async function* rows(): AsyncGenerator<readonly Cells[], void, undefined> {
    yield lines;
  }
  return { title: name, subtitle: [], asOf, columns, rows: rows() };
}

type TitledColumn = { readonly title: string; readonly kind: CellKind };

export function column(title: string, kind: CellKind): TitledColumn {
  return { title, kind };
}

export const integers = (...titles: readonly string[]): TitledColumn[] =>
  titles.map((title) => column(title, 'integer'));

export function createReportTable(
  name: string,
  title: string,
  columns: readonly TitledColumn[],
  lines: readonly Cells[],
): ReportTable {
  const indexedColumns = columns.map((each, index) => ({
    ...each,
    key: each.title,
    value: (cells: Cells): CellValue => cells[index] ?? null,
  }));
  return { name, title, columns: indexedColumns, lines };
}
