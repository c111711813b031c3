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

/** Rows, then totals. */
type RowSource<Row> = {
  readonly peek: () => Promise<{ readonly rows: readonly Row[]; readonly total: boolean } | undefined>;
  readonly skip: (rows: number) => void;
  readonly close: () => Promise<void>;
};

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
  const source = createRowSource(sheet);
  try {
    const first = await source.peek();
    const widths = measureColumns(columns, first === undefined || first.total ? [] : first.rows);
    for (let number = 1; number === 1 || (await source.peek()) !== undefined; number++)
      yield { name: nameOf(number), xml: worksheetXml(columns, widths, source, options) };
  } finally {
    await source.close();
  }
}

async function* worksheetXml<Row>(
  columns: Columns<Row>,
  widths: readonly number[],
  source: RowSource<Row>,
  { styles, maxRows, onRows }: WorksheetOptions,
): AsyncGenerator<string, void, undefined> {
  const letters = columns.map((_, index) => columnLetters(index));
  const styleOf = plainStyles(styles);
  const rowXml = (number: number, cells: readonly WorkbookCell[], total: boolean): string => {
    let xml = `<row r="${number}">`;
    for (const [index, { value, format }] of cells.entries()) {
      if (value === null && !total) continue;
      const style = total ? styles.numberOf({ format, bold: true, lineAbove: true }) : styleOf(format);
      xml += cellXml(`${letters[index]}${number}`, style, value);
    }
    return `${xml}</row>`;
  };

  yield `${worksheetStart}${columnsXml(widths)}<sheetData>${headerXml(columns, letters, styles)}`;
  let written = 1;
  let lastRow = 1;
  for (let next = await source.peek(); next && written < maxRows; next = await source.peek()) {
    const { rows, total } = next;
    const fitting = rows.slice(0, Math.min(rowsPerPiece, maxRows - written));
    let piece = '';
    for (const row of fitting) {
      written++;
      const cells = columns.map(({ kind, value }) => toWorkbookCell(kind, value(row)));
      piece += rowXml(written, cells, total);
    }
    if (!total) {
      lastRow = written;
      onRows(fitting.length);
    }
    source.skip(fitting.length);
    yield piece;
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

function createRowSource<Row>({ rows, totals }: Sheet<Row>): RowSource<Row> {
  const batches = rows[Symbol.asyncIterator]();
  let current: { readonly rows: readonly Row[]; readonly total: boolean } | undefined;
  let index = 0;
  let next: 'rows' | 'totals' | 'nothing' = 'rows';

  const peek: RowSource<Row>['peek'] = async () => {
    while (current === undefined || index === current.rows.length) {
      if (next === 'nothing') return undefined;
      index = 0;
      if (next === 'totals') {
        next = 'nothing';
        current = { rows: totals ? await totals() : [], total: true };
        continue;
      }
      const { done, value } = await batches.next();
      if (done) next = 'totals';
      current = { rows: done ? [] : value, total: false };
    }
    return { rows: index === 0 ? current.rows : current.rows.slice(index), total: current.total };
  };
  return {
    peek,
    skip: (count) => {
      index += count;
    },
    close: async () => {
      await batches.return?.();
    },
  };
}
