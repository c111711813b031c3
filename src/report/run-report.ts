import type { ReportFormat } from './formats/sheet.ts';
import { tableSheet } from './report-table.ts';
import type { RunDetails } from './run-details.ts';
import { runHeading } from './run-heading.ts';
import { countsTable, runTables } from './run-tables.ts';
import { runDetailsText } from './run-text.ts';
import { paper, type Screen } from './screen.ts';

/** The formats of a report that has several tables. */
export const runReportFormats = ['table', 'json', 'xlsx', 'html'] as const satisfies readonly ReportFormat[];
export type RunReportFormat = (typeof runReportFormats)[number];

/** The report of a run in a format, piece by piece: bytes of a workbook, text otherwise. */
export async function* runReportText(
  details: RunDetails,
  format: RunReportFormat,
  asOf: Date,
  screen: Screen = paper,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  // What draws pages and workbooks is loaded by who wants one.
  switch (format) {
    case 'table':
      return yield `${runDetailsText(details, screen)}\n`;
    case 'json':
      return yield `${JSON.stringify(details)}\n`;
    case 'xlsx': {
      const { xlsxOfTables } = await import('./formats/xlsx.ts');
      const tables = [countsTable(details), ...runTables(details)].filter(({ lines }) => lines.length > 0);
      return yield* xlsxOfTables(
        { ...runHeading(details), asOf },
        tables.map((table) => tableSheet(table, asOf)),
      );
    }
    case 'html':
      return yield* (await import('./run-page.ts')).runPage(details, asOf);
  }
}
