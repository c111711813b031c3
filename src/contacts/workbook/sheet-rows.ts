import type { CellNote, CellNotes } from '../cell-notes.ts';
import { maxColumns as widestHeader } from '../header.ts';
import type { CellReader } from './cell-text.ts';
import { createStringReader } from './shared-strings.ts';
import { createXmlParser, XmlError, type XmlHandlers } from './xml-parser.ts';

/** A row of a sheet that has a value in any cell. */
export type SheetRow = {
  readonly line: number;
  /** Up to its last cell with a value, or the width. */
  readonly values: readonly string[];
  readonly notes: CellNotes | undefined;
  /** The index of its first value behind the width. */
  readonly outside: number | undefined;
};

/** The format's limits. */
const maxRows = 1_048_576;
const maxColumns = 16_384;
/** The number of rows of a batch in `rows.ts`. */
const batchSize = 4_096;
const batchLength = 4 * 1024 * 1024;

/** Reads rows as their XML arrives. */
export class SheetRows {
  /** Rows that a filter or a user hides, so far. */
  hiddenRows = 0;
  /** How much of the sheet has been read, from 0 to 1. */
  progress = 0;
  private readonly part: AsyncIterable<Buffer>;
  private readonly size: number;
  private readonly readCell: CellReader;
  private rows: SheetRow[] = [];
  private length = 0;
  /** Columns that are kept; before the header is known, more than it can have. */
  private width = widestHeader + 1;
  /** Before the header is known, rows are passed on at once. */
  private batchSize = 1;

  private line = 0;
  private isHidden = false;
  private values: string[] = [];
  private notes: (CellNote | undefined)[] | undefined;
  private outside: number | undefined;
  private column = -1;

  /** @param size of the part in bytes */
  constructor(part: AsyncIterable<Buffer>, size: number, readCell: CellReader) {
    this.part = part;
    this.size = size;
    this.readCell = readCell;
  }

  /** @throws XmlError */
  async *read(): AsyncGenerator<readonly SheetRow[], void, undefined> {
    const parser = createXmlParser(this.handlers());
    let size = 0;
    for await (const bytes of this.part) {
      parser.write(bytes);
      size += bytes.length;
      if (this.rows.length < this.batchSize && this.length < batchLength) continue;
      this.progress = size / this.size;
      yield this.takeRows();
    }
    parser.end();
    this.progress = 1;
    yield this.takeRows();
  }

  /** @param columns of the header, which is known now */
  continueWith(columns: number): void {
    this.width = columns;
    this.batchSize = batchSize;
  }

  private takeRows(): readonly SheetRow[] {
    const { rows } = this;
    this.rows = [];
    this.length = 0;
    return rows;
  }

  private handlers(): XmlHandlers {
    let type: string | undefined;
    let style = 0;
    let value: string | undefined;
    let inline: string | undefined;
    let hasFormula = false;
    let inRows = false;
    let inCell = false;
    let inValue = false;
    const string = createStringReader((text) => {
      inline = text;
    });
    const openCell = (name: string): void => {
      if (name === 'v') {
        inValue = true;
        value = '';
      } else if (name === 'f') hasFormula = true;
      else if (name === 'is') string.begin();
      else string.open(name);
    };
    return {
      open: (name, attributes) => {
        if (inCell) openCell(name);
        else if (name === 'c' && inRows) {
          this.beginCell(attributes['r']);
          type = attributes['t'];
          style = Number(attributes['s'] ?? 0);
          value = undefined;
          inline = undefined;
          hasFormula = false;
          inCell = true;
        } else if (name === 'row' && inRows) this.beginRow(attributes);
        else if (name === 'sheetData') inRows = true;
      },
      close: (name) => {
        if (inCell) {
          if (name === 'c') {
            inCell = false;
            const cell = this.readCell({ type, style, value, inline, hasFormula });
            if (cell.text !== '' || cell.note) this.addCell(cell.text, cell.note);
          } else if (name === 'v') inValue = false;
          else if (name === 'is') string.end();
          else string.close(name);
        } else if (name === 'row' && inRows) this.endRow();
        else if (name === 'sheetData') inRows = false;
      },
      text: (text) => {
        if (inValue) value = (value ?? '') + text;
        else if (inCell) string.text(text);
      },
    };
  }

  private beginRow({ r, hidden }: Readonly<Record<string, string>>): void {
    const line = r === undefined ? this.line + 1 : Number(r);
    if (!Number.isInteger(line) || line <= this.line || line > maxRows)
      throw new XmlError(`a row has the number ${r} behind row ${this.line}`);
    this.line = line;
    this.isHidden = hidden !== undefined && /^(?:1|true)$/.test(hidden);
    this.values = [];
    this.notes = undefined;
    this.outside = undefined;
    this.column = -1;
  }

  private beginCell(reference: string | undefined): void {
    const column = reference === undefined ? this.column + 1 : columnOf(reference);
    if (column <= this.column || column >= maxColumns)
      throw new XmlError(`the cell ${reference ?? ''} of row ${this.line} is not in order`);
    this.column = column;
  }

  private addCell(text: string, note: CellNote | undefined): void {
    const { column, values } = this;
    if (column >= this.width) {
      if (text.trim() !== '') this.outside ??= column;
      return;
    }
    while (values.length < column) values.push('');
    values.push(text);
    this.length += text.length + 8;
    if (!note) return;
    this.notes ??= [];
    this.notes[column] = note;
  }

  private endRow(): void {
    const { line, values, notes, outside } = this;
    if (outside === undefined && !notes && values.every((value) => value.trim() === '')) return;
    if (this.isHidden) this.hiddenRows++;
    this.length += values.length * 8;
    this.rows.push({ line, values, notes, outside });
  }
}

/** -1: none. */
function columnOf(reference: string): number {
  let number = 0;
  for (let index = 0; index < reference.length; index++) {
    const code = reference.charCodeAt(index) & ~32;
    if (code < 65 || code > 90) break;
    number = number * 26 + code - 64;
  }
  return number - 1;
}
