import type { AsOf } from '../../domain/replica.ts';
import type { Encoding } from '../../platform/encodings.ts';
import type { Columns } from '../column.ts';
import type { Chart } from '../html/chart.ts';

/** `table` is for the terminal, `html` for reading and printing; the others hold everything. */
export const reportFormats = ['table', 'csv', 'json', 'ndjson', 'xlsx', 'html'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** The formats of a report with several tables. */
export const runReportFormats = ['table', 'json', 'xlsx', 'html'] as const satisfies readonly ReportFormat[];
export type RunReportFormat = (typeof runReportFormats)[number];

/** How a CSV file is written, where it is not UTF-8 with commas. */
export type CsvForm = {
  readonly encoding: Encoding;
  readonly byteOrderMark: boolean;
  readonly delimiter: string;
};

export type Sheet<Row> = {
  readonly title: string;
  /** Period, zone and filters. */
  readonly subtitle: readonly string[];
  /** The time of the figures. The file contains no other time, so equal figures give equal bytes. */
  readonly asOf: AsOf;
  readonly columns: Columns<Row>;
  /** Calls `use` with a small table of sums, which people read before the rows. */
  readonly summary?: <Result>(use: <Sum>(columns: Columns<Sum>, sums: readonly Sum[]) => Result) => Result;
  /** Read once, in batches of any size. */
  readonly rows: AsyncIterable<readonly Row[]>;
  /** Called once, after the last row. CSV and NDJSON have none. A terminal has the summary instead. */
  readonly totals?: () => readonly Row[] | Promise<readonly Row[]>;
  readonly csv?: CsvForm | undefined;
  /** Called once, before the first row, by HTML only. */
  readonly charts?: () => readonly Chart[] | Promise<readonly Chart[]>;
};
