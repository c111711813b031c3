import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { formatAsOf } from '../time.ts';
import type { Sheet } from './sheet.ts';
import { cellXml, toWorkbookCell, xmlDeclaration } from './xlsx-cells.ts';
import { workbookParts } from './xlsx-parts.ts';
import { createStyles, type Styles } from './xlsx-styles.ts';
import { columnsXml, makeWorksheets, type Worksheet } from './xlsx-worksheets.ts';

/** The format's limit, with the header. */
const maxRowsOfWorksheet = 1_048_576;

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
  return workbookBytes(sheet, [sheet], rowsInEach);
}

/** A workbook with one worksheet per table, even when empty. */
export function formatXlsxTables<Row>(
  about: About,
  tables: readonly Sheet<Row>[],
): AsyncGenerator<Uint8Array, void, undefined> {
  return workbookBytes(about, tables, maxRowsOfWorksheet);
}

type About = Pick<Sheet<never>, 'title' | 'subtitle' | 'asOf'>;

async function* workbookBytes<Row>(
  about: About,
  tables: readonly Sheet<Row>[],
  maxRows: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const zip = new ZipFile();
  const output = zip.outputStream.pipe(new PassThrough());
  const writing = new AbortController();
  const { signal } = writing;
  const written = writeParts(zip, about, tables, { maxRows, signal }).catch((error: Error) => {
    output.destroy(signal.aborted ? undefined : error);
  });
  try {
    yield* output;
  } finally {
    writing.abort();
    output.destroy();
    await written;
  }
}

/** Equal workbooks have equal bytes: 1 January 1980 is the first time of ZIP. */
const noTime = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true };

/** Worksheets come first, because their number and styles are known only after the last row. */
async function writeParts<Row>(
  zip: ZipFile,
  about: About,
  tables: readonly Sheet<Row>[],
  { maxRows, signal }: { readonly maxRows: number; readonly signal: AbortSignal },
): Promise<void> {
  const styles = createStyles();
  const names: string[] = [];
  let rows = 0;
  const onRows = (more: number): void => {
    rows += more;
  };
  const add = async ({ name, xml }: Worksheet): Promise<void> => {
    names.push(name);
    const part = Readable.from(withDeclaration(xml), { objectMode: false, signal });
    zip.addReadStream(part, `xl/worksheets/sheet${names.length}.xml`, noTime);
    await once(part, 'close');
    if (part.errored) throw part.errored;
  };
  for (const table of tables)
    for await (const worksheet of makeWorksheets(table, { styles, maxRows, onRows })) await add(worksheet);
  await add({ name: 'About', xml: aboutXml(about, rows, styles) });
  const others = workbookParts({ worksheets: names, asOf: about.asOf.at });
  const parts = [['xl/styles.xml', styles.toXml()], ...others] as const;
  for (const [path, xml] of parts) zip.addBuffer(Buffer.from(xmlDeclaration + xml), path, noTime);
  zip.end();
}

async function* withDeclaration(xml: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  yield xmlDeclaration;
  yield* xml;
}

async function* aboutXml(
  { title, subtitle, asOf }: About,
  rows: number,
  styles: Styles,
): AsyncGenerator<string, void, undefined> {
  const lines: readonly (readonly [string, ReturnType<typeof toWorkbookCell>])[] = [
    ['Report', toWorkbookCell('text', title)],
    ...subtitle.map((line) => ['', toWorkbookCell('text', line)] as const),
    ['As of (UTC)', toWorkbookCell('time', asOf.at)],
    ...(asOf.read ? [['Age', toWorkbookCell('text', formatAsOf(asOf))] as const] : []),
    ['Lines', toWorkbookCell('integer', rows)],
    [
      'Exactness',
      toWorkbookCell(
        'text',
        'Decimals with more than 15 significant digits are text: a spreadsheet cannot hold them as numbers.',
      ),
    ],
  ];
  const xml = lines.map(([name, { value, format }], index) => {
    const row = index + 1;
    const style = styles.numberOf({ format, align: 'left', wrap: true });
    const label = name === '' ? '' : cellXml(`A${row}`, 0, name);
    return `<row r="${row}">${label}${cellXml(`B${row}`, style, value)}</row>`;
  });
  yield `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">${columnsXml([16, 80])}<sheetData>${xml.join('')}</sheetData></worksheet>`;
}
