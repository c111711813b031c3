import type { CellNotes } from './cell-notes.ts';
import { type CsvFault, type Delimiter, maxRecordSize, parseRecords } from './csv.ts';
import type { TextLines } from './text-lines.ts';

export type Row =
  | {
      readonly kind: 'row';
      /** Its first line in the file, from 1. */
      readonly line: number;
      /** As many as the header has columns. */
      readonly values: readonly string[];
      /** Of a workbook's row that has cells other than text. */
      readonly notes?: CellNotes | undefined;
    }
  | {
      readonly kind: 'broken';
      readonly line: number;
      /** Completes a sentence. */
      readonly detail: string;
      /** The line as written, without its line end; at most its first 1,048,576 characters. */
      readonly text: string;
    };

/** Rows per batch: fewer cost more time per row, more cost memory. */
const batchSize = 4_096;

/**
 * Finds a value that begins with a quote. A quote after spaces counts too, so that csv-parse rejects it: the author
 * meant to quote the value, and recipients would see the quotes.
 */
const beginsWithQuote: Readonly<Record<Delimiter, RegExp>> = {
  ',': /(?:^|,)[ \t]*"/,
  ';': /(?:^|;)[ \t]*"/,
  '\t': /(?:^|\t) *"/,
  '|': /(?:^|\|)[ \t]*"/,
};

/** A record with quotes, parsed later in a group. */
type QuotedRecord = {
  readonly index: number;
  readonly line: number;
  readonly start: number;
  /** Of its first line. */
  readonly endOfLine: number;
  readonly text: string;
  /** Its number of lines. */
  readonly count: number;
};

/**
 * Reads the rows after the header. A line without a value that begins with a quote is split directly: a quote
 * inside a value is part of it (`5" pipe`). csv-parse parses the other records in groups.
 *
 * Of a broken record only the first line is rejected, and reading continues with the next line: an unclosed quote
 * must not swallow the good rows after it.
 */
export class RowReader {
  private readonly lines: TextLines;
  private readonly delimiter: Delimiter;
  private readonly columns: number;
  private readonly quotedValue: RegExp;
  /** Quoted records parsed together. Few after going back, because all rows after the broken one are read again. */
  private groupSize = batchSize;
  /** The last line of a broken record. Until there, csv-parse parses every line with a quote, which may end a value. */
  private strictUntil = 0;
  /** Skips the rest of a line over the limit. */
  private skippingLongLine = false;

  constructor(lines: TextLines, delimiter: Delimiter, columns: number) {
    this.lines = lines;
    this.delimiter = delimiter;
    this.columns = columns;
    this.quotedValue = beginsWithQuote[delimiter];
  }

  /** Empty: more text is needed. */
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

  /** @returns whether a whole record or blank line was available */
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
      // Reserves its index until its group is parsed.
      rows.push({ kind: 'row', line, values: [] });
      lines.advance(end, count);
    }
    return true;
  }

  /** @returns whether reading continues inside a broken record; rows after it are discarded */
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
        // Only the first line of a record is broken, so the fault must describe that line.
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

  private rereadAfter(line: number, endOfLine: number, count: number): void {
    this.strictUntil = Math.max(this.strictUntil, line + count - 1);
    this.lines.goBack(this.lines.startAfter(endOfLine), line + 1);
  }

  private parseFault(text: string): string {
    return faultText(parseRecords([text], this.delimiter).fault);
  }

  private wrongValueCount(values: readonly string[]): string {
    return `${values.length} ${values.length === 1 ? 'value' : 'values'}, but the header has ${this.columns} columns`;
  }

  private rejectLongLine(rows: Row[], start: number, end: number): boolean {
    const { lines } = this;
    rows.push(
      brokenLine(
        lines.line,
        'the line has more than 1,048,576 characters',
        lines.text.slice(start, start + maxRecordSize),
      ),
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

  /** A skipped line can end with the file, exactly at the end of a piece. */
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
