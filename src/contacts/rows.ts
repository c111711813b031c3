import { type CsvFault, type Delimiter, maxRecordSize, parseRecords } from './csv.ts';
import type { TextLines } from './text-lines.ts';

/** A row of a contact file, or a line that is none. */
export type Row =
  | {
      readonly kind: 'row';
      /** Where it begins, from 1; all lines of the file count. */
      readonly line: number;
      /** As many as the header has columns. */
      readonly values: readonly string[];
    }
  | {
      readonly kind: 'broken';
      readonly line: number;
      /** What is wrong, as half a sentence. */
      readonly detail: string;
      /** The line as it stands in the file, without its line end; of one over 1 MiB the beginning. */
      readonly text: string;
    };

/** Rows that are handed on together, at most: fewer cost more a row, more cost memory. */
const batchSize = 4_096;

/**
 * Whether a value of a line begins with a quote. One with spaces before it counts, so that csv-parse refuses it: somebody
 * meant to quote the value, and would see the quotes sent.
 */
const beginsWithQuote: Readonly<Record<Delimiter, RegExp>> = {
  ',': /(?:^|,)[ \t]*"/,
  ';': /(?:^|;)[ \t]*"/,
  '\t': /(?:^|\t) *"/,
  '|': /(?:^|\|)[ \t]*"/,
};

/** A record with quotes in it, which has a place among the rows and is judged together with others. */
type QuotedRecord = {
  readonly index: number;
  readonly line: number;
  readonly start: number;
  /** Of its first line. */
  readonly endOfLine: number;
  readonly text: string;
  /** How many lines it has. */
  readonly count: number;
};

/**
 * Reads the rows after the header. A line of which no value begins with a quote is split where it stands, and a quote in
 * the middle of a value is part of it (`5" pipe`); of the others csv-parse is the judge, of many at a time.
 *
 * Where a record is broken, its first line is, and reading goes on with the next line: a quote that is never closed must
 * not take the good rows after it along.
 */
export class RowReader {
  private readonly lines: TextLines;
  private readonly delimiter: Delimiter;
  private readonly columns: number;
  private readonly quotedValue: RegExp;
  /** Quoted records that are judged together: few, once reading had to go back, for all after that is read again. */
  private groupSize = batchSize;
  /** The last line of what was meant as one record: a quote there may well be the end of a value. */
  private strictUntil = 0;
  /** The rest of a line over the limit is on its way, and belongs to nothing. */
  private skippingLongLine = false;

  constructor(lines: TextLines, delimiter: Delimiter, columns: number) {
    this.lines = lines;
    this.delimiter = delimiter;
    this.columns = columns;
    this.quotedValue = beginsWithQuote[delimiter];
  }

  /** The next rows of the text that is there; none when it has been read and more is needed. */
  readBatch(): readonly Row[] {
    const rows: Row[] = [];
    let group: QuotedRecord[] = [];
    for (;;) {
      const found = rows.length < batchSize && this.readRecord(rows, group);
      if (found && group.length < this.groupSize) continue;
      const wentBack = this.parseGroup(rows, group);
      group = [];
      if (!found && !wentBack) return rows;
    }
  }

  /** @returns whether a record, or a blank line, was there as a whole */
  private readRecord(rows: Row[], group: QuotedRecord[]): boolean {
    const { lines } = this;
    const { text, position: start, line } = lines;
    if (start === text.length) return this.endOfText();
    const end = lines.endOfLine(start);
    if (this.skippingLongLine) return this.skipLongLine(end);
    if (end - start > maxRecordSize) return this.rejectLongLine(rows, start, end);
    if (!lines.isWhole(end)) return false;
    if (lines.hasQuote(start, end) && this.isQuoted(line, text.slice(start, end))) {
      return this.readQuoted(rows, group, start, end);
    }

    if (end > start) {
      const values = text.slice(start, end).split(this.delimiter);
      rows.push(
        values.length === this.columns
          ? { kind: 'row', line, values }
          : brokenLine(line, this.wrongValueCount(values), text.slice(start, end)),
      );
    }
    lines.advance(end);
    return true;
  }

  private isQuoted(line: number, text: string): boolean {
    return line <= this.strictUntil || this.quotedValue.test(text);
  }

  private readQuoted(rows: Row[], group: QuotedRecord[], start: number, endOfLine: number): boolean {
    const { lines } = this;
    const { text, line } = lines;
    let end = endOfLine;
    let count = 1;
    let open = !lines.quotesArePaired(start, end);
    while (open && end - start <= maxRecordSize) {
      const next = lines.startAfter(end);
      if (next === text.length && lines.ended) break;
      end = lines.endOfLine(next);
      if (!lines.isWhole(end) && end - start <= maxRecordSize) return false;
      open = lines.quotesArePaired(next, end);
      count++;
    }
    if (open || end - start > maxRecordSize) {
      const first = text.slice(start, endOfLine);
      rows.push(brokenLine(line, this.parseFault(first), first));
      this.rereadAfter(line, endOfLine, count);
    } else {
      group.push({ index: rows.length, line, start, endOfLine, text: text.slice(start, end), count });
      // Its place, until it is judged.
      rows.push({ kind: 'row', line, values: [] });
      lines.advance(end, count);
    }
    return true;
  }

  /** @returns whether reading goes on within a record that was broken; what was read after it is forgotten then */
  private parseGroup(rows: Row[], group: readonly QuotedRecord[]): boolean {
    const { lines } = this;
    let parsed = 0;
    while (parsed < group.length) {
      const rest = group.slice(parsed);
      const { records, fault } = parseRecords(
        rest.map(({ text }) => text),
        this.delimiter,
      );
      for (const [index, quoted] of rest.entries()) {
        const values = records[index];
        if (values === undefined && fault === undefined) throw new Error('csv-parse left out a record.');
        parsed++;
        if (values?.length === this.columns) {
          rows[quoted.index] = { kind: 'row', line: quoted.line, values };
          continue;
        }
        // Of a record of several lines only the first is broken, so it is what the fault is told of.
        const detail = values
          ? this.wrongValueCount(values)
          : quoted.count > 1
            ? this.parseFault(lines.text.slice(quoted.start, quoted.endOfLine))
            : faultText(fault);
        if (this.reject(rows, quoted, detail)) return true;
        if (values === undefined) break;
      }
    }
    this.groupSize = Math.min(this.groupSize * 2, batchSize);
    return false;
  }

  private reject(rows: Row[], quoted: QuotedRecord, detail: string): boolean {
    const { index, line, start, endOfLine, count } = quoted;
    const { lines } = this;
    const first = lines.text.slice(start, endOfLine);
    rows[index] = brokenLine(line, detail, first);
    if (count === 1) return false;
    rows.length = index + 1;
    this.rereadAfter(line, endOfLine, count);
    this.groupSize = 1;
    return true;
  }

  /** Reads the lines of a broken record anew, but for its first. */
  private rereadAfter(line: number, endOfLine: number, count: number): void {
    this.strictUntil = Math.max(this.strictUntil, line + count - 1);
    this.lines.goBack(this.lines.startAfter(endOfLine), line + 1);
  }

  private parseFault(text: string): string {
    return faultText(parseRecords([text], this.delimiter).fault);
  }

  private wrongValueCount(values: readonly string[]): string {
    return `${values.length} ${values.length === 1 ? 'value' : 'values'}, where the header has ${this.columns} columns`;
  }

  private rejectLongLine(rows: Row[], start: number, end: number): boolean {
    const { lines } = this;
    rows.push(
      brokenLine(lines.line, 'the line is over 1 MiB', lines.text.slice(start, start + maxRecordSize)),
    );
    this.skippingLongLine = true;
    return this.skipLongLine(end);
  }

  private skipLongLine(end: number): boolean {
    const { lines } = this;
    if (!lines.isWhole(end)) {
      lines.position = end;
      return false;
    }
    this.skippingLongLine = false;
    lines.advance(end);
    return true;
  }

  /** A line that is passed over may end with the file, just where a piece of it did. */
  private endOfText(): boolean {
    if (this.skippingLongLine && this.lines.ended) this.skipLongLine(this.lines.text.length);
    return false;
  }
}

function brokenLine(line: number, detail: string, text: string): Row {
  return { kind: 'broken', line, detail, text };
}

function faultText(fault: CsvFault | undefined): string {
  return fault === undefined ? 'not readable as CSV' : `value ${fault.column + 1}: ${fault.what}`;
}
