import { PassThrough } from 'node:stream';
import { WorkbookWriter, type WorksheetWriter } from '@cj-tech-master/excelts';
import type { Sheet } from './sheet.ts';
import { columnWidths, sheetNames, workbookCell, workbookText } from './xlsx-cells.ts';

/** Rows of a worksheet, its header among them: all that the file format has. */
export const rowsInWorksheet = 1_048_576;

/** Of the font that cells have by themselves; without its name it would be another one. */
const bold = { name: 'Calibri', family: 2, scheme: 'minor', size: 11, bold: true } as const;
/** A4, across, as wide as the columns are. */
const onPaper = {
  paperSize: 9,
  orientation: 'landscape',
  fitToPage: true,
  fitToWidth: 1,
  fitToHeight: 0,
} as const;

/** So many bytes wait to be read before the next row is made. */
const ahead = 1_048_576;

/**
 * A workbook: the rows in a worksheet with a frozen, filterable header, and as many further ones as they need; totals under
 * the last; then a worksheet that says what the report is. Numbers are numbers, times are dates in UTC, texts are typed
 * texts, and inert. The bytes depend on nothing but the sheet.
 *
 * @param rowsInEach for tests
 */
export async function* xlsxBytes<Row>(
  sheet: Sheet<Row>,
  rowsInEach: number = rowsInWorksheet,
): AsyncGenerator<Uint8Array, void, undefined> {
  const output = new PassThrough({ highWaterMark: ahead });
  const writing = writeWorkbook(sheet, output, rowsInEach).catch((error: Error) => output.destroy(error));
  const chunks: AsyncIterable<Uint8Array> = output;
  try {
    yield* chunks;
  } finally {
    output.destroy();
    await writing;
  }
}

async function writeWorkbook<Row>(sheet: Sheet<Row>, output: PassThrough, rowsInEach: number): Promise<void> {
  const { asOf, columns, totals } = sheet;
  const workbook = new WorkbookWriter({
    stream: output,
    useStyles: true,
    // A table of all texts would have to be held in memory.
    useSharedStrings: false,
    creator: 'Volley',
    lastModifiedBy: 'Volley',
    created: asOf,
    modified: asOf,
  });
  leaveTimesOut(workbook);
  const nameOf = sheetNames(sheet.title);
  let widths: readonly number[] | undefined;
  let worksheet: WorksheetWriter | undefined;
  let worksheets = 0;
  let rows = 0;
  let rowsOfAll = 0;

  const finish = async (): Promise<void> => {
    await worksheet?.commit();
    worksheet = undefined;
  };
  const place = async (): Promise<WorksheetWriter> => {
    if (worksheet && rows >= rowsInEach) await finish();
    if (worksheet) return worksheet;
    worksheets++;
    rows = 1;
    worksheet = workbook.addWorksheet(nameOf(worksheets), {
      views: [{ state: 'frozen', ySplit: 1 }],
      pageSetup: onPaper,
    });
    worksheet.columns = columns.map(({ title }, column) => ({
      header: workbookText(title),
      width: widths?.[column] ?? columnWidths(columns, [])[column] ?? 0,
    }));
    const header = worksheet.getRow(1);
    header.font = bold;
    for (const [column, { kind }] of columns.entries()) {
      // As the cells are by themselves.
      header.getCell(column + 1).alignment = { horizontal: kind === 'text' ? 'left' : 'right' };
    }
    header.commit();
    return worksheet;
  };
  const write = async (row: Row, total: boolean): Promise<void> => {
    const to = await place();
    const cells = columns.map(({ kind, value }) => workbookCell(kind, value(row)));
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
    if (batch.length > 0) widths ??= columnWidths(columns, batch);
    for (const row of batch) {
      await write(row, false);
      await drained(output);
      if (output.destroyed) return;
    }
    rowsOfAll += batch.length;
  }
  for (const row of totals ? await totals() : []) await write(row, true);
  await place();
  await finish();
  describe(workbook, sheet, rowsOfAll);
  await workbook.commit();
}

/** The last worksheet: what is said above the table elsewhere. */
function describe<Row>(workbook: WorkbookWriter, { title, subtitle, asOf }: Sheet<Row>, rows: number): void {
  const about = workbook.addWorksheet('About');
  about.columns = [{ width: 16 }, { width: 80 }];
  const lines: readonly (readonly [string, ReturnType<typeof workbookCell>])[] = [
    ['Report', workbookCell('text', title)],
    ...subtitle.map((line) => ['', workbookCell('text', line)] as const),
    ['As of (UTC)', workbookCell('time', asOf)],
    ['Lines', workbookCell('integer', rows)],
    [
      'Exactness',
      workbookCell(
        'text',
        'Decimals with more than 15 significant digits are text: a spreadsheet cannot hold them as numbers.',
      ),
    ],
  ];
  for (const [name, { value, format }] of lines) {
    const line = about.addRow([name, value]);
    if (format !== undefined) line.getCell(2).numFmt = format;
    line.getCell(2).alignment = { horizontal: 'left', wrapText: true };
    line.commit();
  }
  about.commit();
}

/** In the ZIP, every part would have the time at which it was written. */
function leaveTimesOut({ zip }: WorkbookWriter): void {
  const add = zip.add.bind(zip);
  zip.add = (part) => {
    // 1 January 1980, where the times of ZIP begin.
    add(Object.assign(part, { dosTime: 0, dosDate: 0b0000000_0001_00001, extraField: new Uint8Array() }));
  };
}

async function drained(output: PassThrough): Promise<void> {
  if (!output.writableNeedDrain || output.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      output.off('drain', done).off('close', done);
      resolve();
    };
    output.on('drain', done).on('close', done);
  });
}
