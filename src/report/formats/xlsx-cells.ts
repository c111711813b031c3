import { decimalsOf } from '../../platform/money.ts';
import { escapeFormula, plainNumber } from '../escape-formula.ts';
import { printable } from '../printable.ts';
import { type CellKind, type CellValue, cellText, type SheetColumn } from './sheet.ts';

/** A cell as the workbook has it, and the number format that shows it as it is. */
export type WorkbookCell = {
  readonly value: string | number | Date | null;
  readonly format: string | undefined;
};

const timeFormat = 'yyyy-mm-dd hh:mm:ss';
/** A spreadsheet holds numbers as binary ones: so many digits come back as they were. */
const exactDigits = 15;
/** Excel's own limit of a text. */
const maxTextLength = 32_767;

export function toWorkbookCell(kind: CellKind, value: CellValue): WorkbookCell {
  if (value === null || value === '') return { value: null, format: undefined };
  if (value instanceof Date) return { value, format: timeFormat };
  const text = cellText(value);
  const isNumber = (kind === 'integer' || kind === 'decimal') && plainNumber.test(text);
  const digits = text.replace(/^[+-]?[0.]*/, '').replace('.', '').length;
  if (!isNumber || digits > exactDigits) return { value: toWorkbookText(text), format: undefined };
  const decimals = decimalsOf(text);
  // As many places as the ledger has, thousands apart.
  return { value: Number(text), format: decimals === 0 ? '#,##0' : `#,##0.${'0'.repeat(decimals)}` };
}

/** Inert, without what XML cannot hold, and no longer than a cell can be; a text that is cut says so. */
export function toWorkbookText(text: string): string {
  const shown = escapeFormula(text)
    .toWellFormed()
    .replace(/[^\t\n\r]+/g, printable)
    .replace(/[\uFFFE\uFFFF]/g, '\uFFFD');
  if (shown.length <= maxTextLength) return shown;
  const mark = ` … (${shown.length} characters)`;
  return shown.slice(0, maxTextLength - mark.length).toWellFormed() + mark;
}

const maxColumnWidth = 60;
const minColumnWidths: Readonly<Record<CellKind, number>> = { text: 10, integer: 14, decimal: 18, time: 20 };
/** Rows whose texts say how wide the columns are. */
const measuredRows = 100;

/** Widths of columns in characters, by their titles and first rows. */
export function columnWidths<Row>(columns: readonly SheetColumn<Row>[], rows: readonly Row[]): number[] {
  const first = rows.slice(0, measuredRows);
  return columns.map(({ title, kind, value }) => {
    const texts = kind === 'time' ? [] : first.map((row) => cellText(value(row)).length);
    // The title has the filter's button beside it.
    return Math.min(
      maxColumnWidth,
      Math.max(minColumnWidths[kind], title.length + 4, ...texts.map((length) => length + 2)),
    );
  });
}

/** Names of worksheets after a title, without what Excel refuses there: the title, `title 2`, … */
export function sheetNames(title: string): (worksheet: number) => string {
  const allowed = printable(title)
    .toWellFormed()
    .replace(/[[\]:*?/\\']/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 24)
    .toWellFormed()
    .trim();
  const name = allowed === '' || /^(about|history)$/i.test(allowed) ? 'Report' : allowed;
  return (worksheet) => (worksheet === 1 ? name : `${name} ${worksheet}`);
}
