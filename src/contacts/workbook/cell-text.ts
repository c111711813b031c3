import type { CellNote } from '../cell-notes.ts';
import type { NumberFormats } from './number-formats.ts';
import type { SharedStrings } from './shared-strings.ts';
import { XmlError } from './xml-parser.ts';

/** A cell as its XML has it. */
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

const number: CellNote = { kind: 'number' };
const date: CellNote = { kind: 'date' };
const empty: ShownCell = { text: '' };
const fault = (text: string, detail: string): ShownCell => ({ text, note: { kind: 'fault', detail } });
const notComputed = fault(
  '',
  'is a formula without a stored result: open the workbook in the spreadsheet program and save it',
);

/** The text that a cell shows. */
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
        return shownNumber(formats, style, value);
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

function shownNumber(formats: NumberFormats, style: number, value: string): ShownCell {
  const shown = formats.show(style, value);
  if (shown === undefined) throw new XmlError(`a cell has the number "${value}", which is none`);
  switch (shown.kind) {
    case 'number':
      return { text: shown.text, note: number };
    case 'date':
      return { text: shown.text, note: date };
    case 'digits lost':
      return fault(
        shown.text,
        `is the number ${shown.text}: spreadsheets keep 15 digits, so its last digits are lost. Format the column as text, and enter the value again`,
      );
    case 'not shown':
      return fault(shown.text, `is the number ${shown.text}, which its format cannot show`);
  }
}
