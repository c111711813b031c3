import { PassThrough } from 'node:stream';
import { WorkbookWriter } from '@cj-tech-master/excelts';
import type { Sheet } from './sheet.ts';
import { toWorkbookCell } from './xlsx-cells.ts';
import { writeWorksheets } from './xlsx-worksheets.ts';

/** The format's limit, with the header. */
export const maxRowsOfWorksheet = 1_048_576;

/** Bytes that may wait for the reader. */
const maxBufferedBytes = 1_048_576;

/**
 * A workbook of one sheet, with totals and a worksheet "About". Numbers are numbers, times are UTC dates, texts are
 * escaped. Equal sheets give equal bytes.
 *
 * @param rowsInEach for tests
 */
export function formatXlsx<Row>(
  sheet: Sheet<Row>,
  rowsInEach: number = maxRowsOfWorksheet,
): AsyncGenerator<Uint8Array, void, undefined> {
  return workbookBytes(sheet, (write) => write(sheet), rowsInEach);
}

/** A workbook with one worksheet per table, even when empty. */
export function formatXlsxTables<Row>(
  about: About,
  tables: readonly Sheet<Row>[],
): AsyncGenerator<Uint8Array, void, undefined> {
  const writeTables = async (write: WriteTable): Promise<number> => {
    let rows = 0;
    for (const table of tables) rows += await write(table);
    return rows;
  };
  return workbookBytes(about, writeTables, maxRowsOfWorksheet);
}

type About = Pick<Sheet<never>, 'title' | 'subtitle' | 'asOf'>;
type WriteTable = <Row>(sheet: Sheet<Row>) => Promise<number>;

async function* workbookBytes(
  about: About,
  writeTables: (write: WriteTable) => Promise<number>,
  rowsInEach: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const output = new PassThrough({ highWaterMark: maxBufferedBytes });
  const writing = writeWorkbook(about, writeTables, output, rowsInEach).catch((error: Error) =>
    output.destroy(error),
  );
  const chunks: AsyncIterable<Uint8Array> = output;
  try {
    yield* chunks;
  } finally {
    output.destroy();
    await writing;
  }
}

async function writeWorkbook(
  about: About,
  writeTables: (write: WriteTable) => Promise<number>,
  output: PassThrough,
  rowsInEach: number,
): Promise<void> {
  const { asOf } = about;
  const workbook = new WorkbookWriter({
    stream: output,
    useStyles: true,
    // Shared strings would keep all texts in memory.
    useSharedStrings: false,
    creator: 'Volley',
    lastModifiedBy: 'Volley',
    created: asOf,
    modified: asOf,
  });
  omitZipTimes(workbook);
  const rows = await writeTables((sheet) => writeWorksheets(workbook, sheet, output, rowsInEach));
  if (output.destroyed) return;
  addAboutWorksheet(workbook, about, rows);
  await workbook.commit();
}

function addAboutWorksheet(workbook: WorkbookWriter, { title, subtitle, asOf }: About, rows: number): void {
  const worksheet = workbook.addWorksheet('About');
  worksheet.columns = [{ width: 16 }, { width: 80 }];
  const lines: readonly (readonly [string, ReturnType<typeof toWorkbookCell>])[] = [
    ['Report', toWorkbookCell('text', title)],
    ...subtitle.map((line) => ['', toWorkbookCell('text', line)] as const),
    ['As of (UTC)', toWorkbookCell('time', asOf)],
    ['Lines', toWorkbookCell('integer', rows)],
    [
      'Exactness',
      toWorkbookCell(
        'text',
        'Decimals with more than 15 significant digits are text: a spreadsheet cannot hold them as numbers.',
      ),
    ],
  ];
  for (const [name, { value, format }] of lines) {
    const line = worksheet.addRow([name, value]);
    if (format !== undefined) line.getCell(2).numFmt = format;
    line.getCell(2).alignment = { horizontal: 'left', wrapText: true };
    line.commit();
  }
  worksheet.commit();
}

/** Each part of the ZIP would contain the time of writing. */
function omitZipTimes({ zip }: WorkbookWriter): void {
  const add = zip.add.bind(zip);
  zip.add = (part) => {
    // 1 January 1980, the first time of ZIP.
    add(Object.assign(part, { dosTime: 0, dosDate: 0b0000000_0001_00001, extraField: new Uint8Array() }));
  };
}
