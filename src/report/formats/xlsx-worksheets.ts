import type { PassThrough } from 'node:stream';
import type { WorkbookWriter, WorksheetWriter } from '@cj-tech-master/excelts';
import type { Sheet } from './sheet.ts';
import { createSheetNames, measureColumns, toWorkbookCell, toWorkbookText } from './xlsx-cells.ts';

/** The default font of cells; without a name Excel would choose another. */
const bold = { name: 'Calibri', family: 2, scheme: 'minor', size: 11, bold: true } as const;
/** A4 landscape, fitted to the columns. */
const pageSetup = {
  paperSize: 9,
  orientation: 'landscape',
  fitToPage: true,
  fitToWidth: 1,
  fitToHeight: 0,
} as const;

/**
 * Writes the rows, on several worksheets if needed, each with a frozen, filterable header; then the totals.
 *
 * @param output stops the writing when it is closed
 * @param maxRows of a worksheet, with its header
 * @returns the number of rows
 */
export async function writeWorksheets<Row>(
  workbook: WorkbookWriter,
  sheet: Sheet<Row>,
  output: PassThrough,
  maxRows: number,
): Promise<number> {
  const { columns, totals } = sheet;
  const worksheetName = createSheetNames(sheet.title);
  let widths: readonly number[] | undefined;
  let worksheet: WorksheetWriter | undefined;
  let worksheets = 0;
  let rows = 0;
  let rowsOfAll = 0;

  const finish = async (): Promise<void> => {
    await worksheet?.commit();
    worksheet = undefined;
  };
  const currentWorksheet = async (): Promise<WorksheetWriter> => {
    if (worksheet && rows >= maxRows) await finish();
    if (worksheet) return worksheet;
    worksheets++;
    rows = 1;
    worksheet = workbook.addWorksheet(worksheetName(worksheets), {
      views: [{ state: 'frozen', ySplit: 1 }],
      pageSetup: pageSetup,
    });
    worksheet.columns = columns.map(({ title }, column) => ({
      header: toWorkbookText(title),
      width: widths?.[column] ?? measureColumns(columns, [])[column] ?? 0,
    }));
    const header = worksheet.getRow(1);
    header.font = bold;
    for (const [column, { kind }] of columns.entries()) {
      // As their cells.
      header.getCell(column + 1).alignment = { horizontal: kind === 'text' ? 'left' : 'right' };
    }
    header.commit();
    return worksheet;
  };
  const write = async (row: Row, total: boolean): Promise<void> => {
    const to = await currentWorksheet();
    const cells = columns.map(({ kind, value }) => toWorkbookCell(kind, value(row)));
    const line = to.addRow(cells.map((cell) => cell.value));
    for (const [column, { format }] of cells.entries()) {
      if (format !== undefined) line.getCell(column + 1).numFmt = format;
    }
    if (total) {
      line.font = bold;
      line.border = { top: { style: 'thin' } };
    }
    line.commit();
    rows++;
    if (!total) to.autoFilter = { from: { row: 1, col: 1 }, to: { row: rows, col: columns.length } };
  };

  for await (const batch of sheet.rows) {
    if (batch.length > 0) widths ??= measureColumns(columns, batch);
    for (const row of batch) {
      await write(row, false);
      await waitForDrain(output);
      if (output.destroyed) return rowsOfAll;
    }
    rowsOfAll += batch.length;
  }
  for (const row of totals ? await totals() : []) await write(row, true);
  await currentWorksheet();
  await finish();
  return rowsOfAll;
}

async function waitForDrain(output: PassThrough): Promise<void> {
  if (!output.writableNeedDrain || output.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      output.off('drain', done).off('close', done);
      resolve();
    };
    output.on('drain', done).on('close', done);
  });
}
