import type { Chart } from '../html/chart.ts';

/** The formats of a tabular report. `table` is for the terminal, `html` for people and printers, the others hold all. */
export const reportFormats = ['table', 'csv', 'json', 'ndjson', 'xlsx', 'html'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** A decimal is exact text, an integer a number or text, a time a Date; null is an empty cell. */
export type CellValue = string | number | Date | null;
export type CellKind = 'text' | 'integer' | 'decimal' | 'time';

export type SheetColumn<Row> = {
  readonly key: string;
  readonly title: string;
  readonly kind: CellKind;
  readonly value: (row: Row) => CellValue;
  /** Nothing in all rows: formats for people go without it, programs can rely on its being there. */
  readonly blank?: boolean;
  /** As in `Column` of report/table.ts: what is left out first where a terminal is narrow. */
  readonly minor?: number | undefined;
};

export type Sheet<Row> = {
  readonly title: string;
  /** Lines under the title: the period and its zone, filters. */
  readonly subtitle: readonly string[];
  /** The time that the figures are of. No other time is in a file, so the same figures give the same bytes. */
  readonly asOf: Date;
  readonly columns: readonly SheetColumn<Row>[];
  /** Read once, in batches of any size. */
  readonly rows: AsyncIterable<readonly Row[]>;
  /** Lines under the rows, such as sums; asked for once, after the last row. CSV and NDJSON go without. */
  readonly totals?: () => readonly Row[] | Promise<readonly Row[]>;
  /** Asked for once, before the first row, by the format that shows them (HTML). */
  readonly charts?: () => readonly Chart[] | Promise<readonly Chart[]>;
};

/** A value in words, exactly; times in ISO 8601, UTC. */
export function cellText(value: CellValue): string {
  if (value === null) return '';
  return value instanceof Date ? value.toISOString() : String(value);
}
