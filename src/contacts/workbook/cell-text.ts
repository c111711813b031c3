import { format, isDateFormat } from 'numfmt';
import type { CellNote } from '../cell-notes.ts';
import type { SharedStrings } from './shared-strings.ts';
import { XmlError, type XmlHandlers } from './xml-parser.ts';

type RawCell = {
  readonly type: string | undefined;
  readonly style: number;
  /** Of the element `v`. */
  readonly value: string | undefined;
  /** Of the element `is`. */
  readonly inline: string | undefined;
  readonly hasFormula: boolean;
};

type ShownCell = { readonly text: string; readonly note?: CellNote | undefined };

export type CellReader = (cell: RawCell) => ShownCell;

const empty: ShownCell = { text: '' };
const fault = (text: string, detail: string): ShownCell => ({ text, note: { kind: 'fault', detail } });
const notComputed = fault(
  '',
  'is a formula without a stored result: open the workbook in the spreadsheet program and save it',
);

export function createCellReader(textOf: SharedStrings['textOf'], formats: NumberFormats): CellReader {
  return ({ type = 'n', style, value, inline, hasFormula }) => {
    if (type === 'inlineStr') return { text: inline ?? '' };
    // A formula's empty text has an empty element.
    if (type === 'str' && value !== undefined) return { text: value };
    if (value === undefined || value === '') return hasFormula ? notComputed : empty;
    switch (type) {
      case 's':
        return { text: sharedText(textOf, value) };
      case 'n':
        return formats.show(style, value);
      case 'b':
        return { text: value === '0' || value === 'false' ? 'FALSE' : 'TRUE' };
      case 'e':
        return fault(value, `is ${value}, an error value: fix the sheet`);
      default:
        return { text: value };
    }
  };
}

function sharedText(textOf: SharedStrings['textOf'], value: string): string {
  const text = textOf(Number(value));
  if (text === undefined) throw new XmlError(`a cell refers to the text ${value}, which is missing`);
  return text;
}

type NumberFormats = {
  /** Reads the part `xl/styles.xml`. */
  readonly handlers: XmlHandlers;
  /**
   * @param style of the cell
   * @param value as the file has it
   * @throws XmlError for what is no number
   */
  readonly show: (style: number, value: string) => ShownCell;
};

const isoDate = 'yyyy-mm-dd';

/** Built-in formats by their numbers. Programs show some by the user's country; they become ISO dates here. */
const builtIn: Readonly<Record<number, string>> = {
  ...{ 1: '0', 2: '0.00', 3: '#,##0', 4: '#,##0.00', 9: '0%', 10: '0.00%', 11: '0.00E+00' },
  ...{ 5: '"$"#,##0;("$"#,##0)', 6: '"$"#,##0;("$"#,##0)' },
  ...{ 7: '"$"#,##0.00;("$"#,##0.00)', 8: '"$"#,##0.00;("$"#,##0.00)' },
  ...{ 12: '# ?/?', 13: '# ??/??', 14: isoDate, 15: 'd-mmm-yy', 16: 'd-mmm', 17: 'mmm-yy' },
  ...{ 18: 'h:mm AM/PM', 19: 'h:mm:ss AM/PM', 20: 'h:mm', 21: 'h:mm:ss', 22: `${isoDate} hh:mm` },
  ...{ 27: isoDate, 28: isoDate, 29: isoDate, 30: isoDate, 31: isoDate, 32: 'h:mm', 33: 'h:mm:ss' },
  ...{ 34: 'h:mm', 35: 'h:mm:ss', 36: isoDate },
  ...{ 37: '#,##0;(#,##0)', 38: '#,##0;(#,##0)', 39: '#,##0.00;(#,##0.00)', 40: '#,##0.00;(#,##0.00)' },
  ...{ 41: '#,##0;(#,##0)', 42: '"$"#,##0;("$"#,##0)', 43: '#,##0.00;(#,##0.00)' },
  ...{
    44: '"$"#,##0.00;("$"#,##0.00)',
    45: 'mm:ss',
    46: '[h]:mm:ss',
    47: 'mm:ss.0',
    48: '##0.0E+0',
    49: '@',
  },
  ...Object.fromEntries([50, 51, 52, 53, 54, 55, 56, 57, 58].map((number) => [number, isoDate])),
};

/** Days between the two beginnings of counting. */
const daysTo1904 = 1462;
const wholeNumber = /^-?\d{1,15}$/;
/** Spreadsheets replace further digits by zeros. */
const exactLimit = 1e15;

type Shower = (value: number, written: string) => ShownCell;

/** So many numbers of a style have a memoized text, because dates and amounts repeat. */
const maxMemoized = 4_096;

export function createNumberFormats(from1904: boolean): NumberFormats {
  const formats = new Map<number, string>();
  const styles: number[] = [];
  const showers = new Map<number, Shower>();
  let inStyles = false;
  const showerOf = (style: number): Shower => {
    const known = showers.get(style);
    if (known) return known;
    const number = styles[style] ?? 0;
    const made = createShower(formats.get(number) ?? builtIn[number] ?? 'General', from1904);
    showers.set(style, made);
    return made;
  };
  return {
    handlers: {
      open: (name, { numFmtId = '0', formatCode }) => {
        if (name === 'numFmt' && formatCode !== undefined) formats.set(Number(numFmtId), formatCode);
        if (name === 'cellXfs') inStyles = true;
        if (name === 'xf' && inStyles) styles.push(Number(numFmtId));
      },
      close: (name) => {
        if (name === 'cellXfs') inStyles = false;
      },
    },
    show: (style, written) => {
      const value = written.trim() === '' ? Number.NaN : Number(written);
      if (!Number.isFinite(value)) throw new XmlError(`a cell has the number "${written}", which is none`);
      return showerOf(style)(value, written);
    },
  };
}

const number: CellNote = { kind: 'number' };
const date: CellNote = { kind: 'date' };

/** A general format shows whole numbers with all their digits, where spreadsheets show 6.14123E+11. */
function createShower(pattern: string, from1904: boolean): Shower {
  const shown = systemFormat(pattern);
  const isDate = isDateOf(shown);
  const isGeneral = /^(?:general|@)$/i.test(shown);
  const isPlain = isGeneral || shown === '0';
  const added = isDate && from1904 && !/\[[hms]+\]/i.test(shown) ? daysTo1904 : 0;
  const memoized = new Map<number, ShownCell>();
  return (value, written) => {
    if (isPlain && Math.abs(value) >= exactLimit)
      return fault(
        written,
        `is the number ${written}: spreadsheets keep 15 digits, so its last digits are lost. Format the column as text, and enter the value again`,
      );
    if (isPlain && wholeNumber.test(written)) return { text: written, note: number };
    if (isGeneral && Number.isInteger(value)) return { text: String(value), note: number };
    const known = memoized.get(value);
    if (known) return known;
    const text = formatted(isGeneral ? 'General' : shown, value + added);
    const made: ShownCell =
      text === undefined
        ? fault(written, `is the number ${written}, which its format cannot show`)
        : { text, note: isDate ? date : number };
    if (memoized.size === maxMemoized) memoized.clear();
    memoized.set(value, made);
    return made;
  };
}

/** Formats that follow the user's settings have no text of their own. */
function systemFormat(pattern: string): string {
  if (/^\[\$-(?:x-sysdate|F800)\]/i.test(pattern)) return isoDate;
  return /^\[\$-(?:x-systime|F400)\]/i.test(pattern) ? 'hh:mm:ss' : pattern;
}

function isDateOf(pattern: string): boolean {
  try {
    return isDateFormat(pattern);
  } catch {
    return false;
  }
}

const options = { locale: 'en', dateErrorNumber: false, overflow: '######', dateSpanLarge: false } as const;

/** Undefined: the cell shows number signs, or its format is none. */
function formatted(pattern: string, value: number): string | undefined {
  try {
    const text = format(pattern, value, options).trim();
    return /^#+$/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
