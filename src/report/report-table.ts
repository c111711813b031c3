import type { CellKind, CellValue, Sheet, SheetColumn } from './formats/sheet.ts';

/** A table of a report that has several; all of its lines are here. */
export type ReportTable = {
  /** Its worksheet's, of 24 letters at most, and its own among the tables of the report. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly SheetColumn<Cells>[];
  readonly lines: readonly Cells[];
};
export type Cells = readonly CellValue[];

/** A table as a report of its own, with its short name. */
export function toSheet({ name, columns, lines }: ReportTable, asOf: Date): Sheet<Cells> {
  async function* rows(): AsyncGenerator<readonly Cells[], void, undefined> {
    yield lines;
  }
  return { title: name, subtitle: [], asOf, columns, rows: rows() };
}

type TitledColumn = { readonly title: string; readonly kind: CellKind };

/** Figures stand right. */
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
