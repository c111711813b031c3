import { columnsFor } from '../column.ts';
import type { Screen } from '../screen.ts';
import { formatCsv } from './csv.ts';
import { formatJson, formatNdjson } from './json.ts';
import type { ReportFormat, Sheet } from './sheet.ts';
import { formatSheetTable } from './table.ts';

/**
 * Formats rows as they are read, so millions need no more memory than a few. Stopping early ends the reading.
 *
 * @returns pieces: bytes of a workbook, text otherwise
 */
export async function* formatSheet<Row>(
  { columns, ...whole }: Sheet<Row>,
  format: ReportFormat,
  screen?: Screen,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  const sheet = { ...whole, columns: columnsFor(columns, format === 'table' ? 'screen' : 'file') };
  // Load page and workbook code only when needed.
  switch (format) {
    case 'table':
      return yield* formatSheetTable(withoutBlankColumns(sheet), screen);
    case 'csv':
      return yield* formatCsv(sheet);
    case 'json':
      return yield* formatJson(sheet);
    case 'ndjson':
      return yield* formatNdjson(sheet);
    case 'xlsx':
      return yield* (await import('./xlsx.ts')).formatXlsx(withoutBlankColumns(sheet));
    case 'html':
      return yield* (await import('../html/page.ts')).formatHtml(withoutBlankColumns(sheet));
  }
}

function withoutBlankColumns<Row>(sheet: Sheet<Row>): Sheet<Row> {
  return { ...sheet, columns: sheet.columns.filter(({ blank }) => !blank) };
}
