import { columnLetters } from '../../platform/sheet-cells.ts';
import { type Columns, isNumber, titleOf } from '../column.ts';
import type { Sheet } from './sheet.ts';
import {
  cellXml,
  createSheetNames,
  measureColumns,
  toWorkbookCell,
  toWorkbookText,
  type WorkbookCell,
} from './xlsx-cells.ts';
import type { Styles } from './xlsx-styles.ts';

/** `xml` must be read to its end before the next worksheet. */
export type Worksheet = { readonly name: string; readonly xml: AsyncGenerator<string, void, undefined> };

/** More would cost memory, fewer time. */
const rowsPerPiece = 256;

type WorksheetOptions = {
  readonly styles: Styles;
  /** Of a worksheet, with its header. */
  readonly maxRows: number;
  /** Called with numbers of rows as they are written. */
  readonly onRows: (rows: number) => void;
};

/**
 * Makes the worksheets of a sheet, several if it has too many rows for one. Each has a frozen, filterable header.
 */
export async function* makeWorksheets<Row>(
  sheet: Sheet<Row>,
  options: WorksheetOptions,
): AsyncGenerator<Worksheet, void, undefined> {
  const { columns } = sheet;
  const nameOf = createSheetNames(sheet.title);
  // One row of each worksheet is its header.
  const pieces = piecesOf(sheet, options.maxRows - 1);
  try {
    const first = await pieces.next();
    const widths = measureColumns(columns, first.done || first.value.isTotal ? [] : first.value.rows);
    let next = first;
    for (let number = 1; number === 1 || !next.done; number++) {
      const own = async function* (): AsyncGenerator<Piece<Row>, void, undefined> {
        for (let left = options.maxRows - 1; !next.done && left > 0; next = await pieces.next()) {
          yield next.value;
          left -= next.value.rows.length;
        }
      };
      yield { name: nameOf(number), xml: worksheetXml(columns, widths, own(), options) };
    }
  } finally {
    await pieces.return();
  }
}

type Piece<Row> = { readonly rows: readonly Row[]; readonly isTotal: boolean };

/** Rows, then totals, in pieces that end where a worksheet of so many rows ends. */
async function* piecesOf<Row>(
  { rows, totals }: Sheet<Row>,
  rowsInEach: number,
): AsyncGenerator<Piece<Row>, void, undefined> {
  let left = rowsInEach;
  function* cut(batch: readonly Row[], isTotal: boolean): Generator<Piece<Row>, void, undefined> {
    for (let start = 0; start < batch.length; ) {
      const piece = batch.slice(start, start + Math.min(rowsPerPiece, left));
      yield { rows: piece, isTotal };
      start += piece.length;
      left = left === piece.length ? rowsInEach : left - piece.length;
    }
  }
  for await (const batch of rows) yield* cut(batch, false);
  if (totals) yield* cut(await totals(), true);
}

async function* worksheetXml<Row>(
  columns: Columns<Row>,
  widths: readonly number[],
  pieces: AsyncIterable<Piece<Row>>,
  { styles, onRows }: WorksheetOptions,
): AsyncGenerator<string, void, undefined> {
  const letters = columns.map((_, index) => columnLetters(index));
  const styleOf = plainStyles(styles);
  const rowXml = (number: number, cells: readonly WorkbookCell[], isTotal: boolean): string => {
    let xml = `<row r="${number}">`;
    for (const [index, { value, format }] of cells.entries()) {
      if (value === null && !isTotal) continue;
      const style = isTotal ? styles.numberOf({ format, bold: true, lineAbove: true }) : styleOf(format);
      xml += cellXml(`${letters[index]}${number}`, style, value);
    }
    return `${xml}</row>`;
  };

  yield `${worksheetStart}${columnsXml(widths)}<sheetData>${headerXml(columns, letters, styles)}`;
  let written = 1;
  let lastRow = 1;
  for await (const { rows, isTotal } of pieces) {
    let xml = '';
    for (const row of rows) {
      written++;
      const cells = columns.map(({ kind, value }) => toWorkbookCell(kind, value(row)));
      xml += rowXml(written, cells, isTotal);
    }
    if (!isTotal) {
      lastRow = written;
      onRows(rows.length);
    }
    yield xml;
  }
  const filter = columns.length === 0 ? '' : `<autoFilter ref="A1:${letters.at(-1)}${lastRow}"/>`;
  yield `</sheetData>${filter}${pageSetup}</worksheet>`;
}

const worksheetStart =
  '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>';
/** A4 landscape, fitted to the columns. */
const pageSetup = '<pageSetup paperSize="9" orientation="landscape" fitToWidth="1" fitToHeight="0"/>';

/** Memoizes the styles of cells without totals, because nearly all cells have one of few formats. */
function plainStyles(styles: Styles): (format: string | undefined) => number {
  const known = new Map<string | undefined, number>();
  return (format) => {
    const style = known.get(format) ?? styles.numberOf({ format });
    known.set(format, style);
    return style;
  };
}

export function columnsXml(widths: readonly number[]): string {
  if (widths.length === 0) return '';
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  );
  return `<cols>${columns.join('')}</cols>`;
}

/** Titles are aligned as their cells. */
function headerXml<Row>(columns: Columns<Row>, letters: readonly string[], styles: Styles): string {
  const cells = columns.map((column, index) => {
    const align = isNumber(column) || column.kind === 'time' ? 'right' : 'left';
    return cellXml(
      `${letters[index]}1`,
      styles.numberOf({ bold: true, align }),
      toWorkbookText(titleOf(column)),
    );
  });
  return `<row r="1">${cells.join('')}</row>`;
}
