import { countDecimals } from '../../platform/money.ts';
import { type CellKind, type CellValue, type Columns, cellText, isNumber, titleOf } from '../column.ts';
import { escapeFormula, plainNumber, printable } from '../printable.ts';

/** `format` shows the value unchanged. */
export type WorkbookCell = {
  readonly value: string | number | Date | null;
  readonly format: string | undefined;
};

const timeFormat = 'yyyy-mm-dd hh:mm:ss';
/** Spreadsheets use binary numbers, which keep this many digits exactly. */
const exactDigits = 15;
/** Excel's limit. */
const maxTextLength = 32_767;

export function toWorkbookCell(kind: CellKind, value: CellValue): WorkbookCell {
  if (value === null || value === '') return { value: null, format: undefined };
  if (value instanceof Date) return { value, format: timeFormat };
  const text = cellText(value);
  const isPlainNumber = isNumber({ kind }) && plainNumber.test(text);
  const digits = text.replace(/^[+-]?[0.]*/, '').replace('.', '').length;
  if (!isPlainNumber || digits > exactDigits) return { value: toWorkbookText(text), format: undefined };
  const decimals = countDecimals(text);
  // All decimals of the ledger, with thousands separators.
  return { value: Number(text), format: decimals === 0 ? '#,##0' : `#,##0.${'0'.repeat(decimals)}` };
}

/** Escapes formulas and characters that XML forbids, and marks a text that it cuts. */
export function toWorkbookText(text: string): string {
  const shown = escapeFormula(text)
    .toWellFormed()
    .replace(/[^\t\n\r]+/g, printable)
    .replace(/[\uFFFE\uFFFF]/g, '\uFFFD');
  if (shown.length <= maxTextLength) return shown;
  const mark = ` … (${shown.length} characters)`;
  return shown.slice(0, maxTextLength - mark.length).toWellFormed() + mark;
}

export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};

/** A text as content or in an attribute. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"\r]/g, (character) => escapes[character] ?? character);
}

/** Days between the spreadsheet's day 0 and 1970. */
const firstDay = 25_569;
const dayLength = 86_400_000;

/** @param style from `Styles` */
export function cellXml(reference: string, style: number, value: WorkbookCell['value']): string {
  const start = style === 0 ? `<c r="${reference}"` : `<c r="${reference}" s="${style}"`;
  if (value === null) return `${start}/>`;
  if (typeof value !== 'string') {
    return `${start}><v>${typeof value === 'number' ? value : value.getTime() / dayLength + firstDay}</v></c>`;
  }
  // Spreadsheets read _x0041_ as A, and _x005F_ as the underscore.
  const text = xmlText(value.replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_'));
  const space = /^\s|\s$|\s\s/.test(value) ? ' xml:space="preserve"' : '';
  return `${start} t="inlineStr"><is><t${space}>${text}</t></is></c>`;
}

const maxColumnWidth = 60;
const minColumnWidths: Readonly<Record<CellKind, number>> = {
  text: 10,
  words: 10,
  state: 10,
  integer: 14,
  decimal: 18,
  time: 20,
};
const measuredRows = 100;

export function measureColumns<Row>(columns: Columns<Row>, rows: readonly Row[]): number[] {
  const first = rows.slice(0, measuredRows);
  return columns.map(({ title, kind, value }) => {
    const shownTitle = titleOf({ title, kind });
    const texts = kind === 'time' ? [] : first.map((row) => cellText(value(row)).length);
    // The title needs room for the filter button.
    return Math.min(
      maxColumnWidth,
      Math.max(minColumnWidths[kind], shownTitle.length + 4, ...texts.map((length) => length + 2)),
    );
  });
}

/** Names worksheets `title`, `title 2`, … without characters that Excel refuses. */
export function createSheetNames(title: string): (worksheet: number) => string {
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
