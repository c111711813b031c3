import { CsvError, parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Delimiter } from '../../src/contacts/csv.ts';
import { createDecoder } from '../../src/contacts/decoder.ts';
import { type Row, RowReader } from '../../src/contacts/rows.ts';
import { countLineEnds, TextLines } from '../../src/contacts/text-lines.ts';

/** The rows of a text without a header that arrives in pieces cut at these offsets. */
function read(content: string, columns: number, delimiter: Delimiter, cuts: readonly number[]): Row[] {
  const lines = new TextLines();
  const reader = new RowReader(lines, delimiter, columns);
  const decoder = createDecoder('utf-8');
  const rows: Row[] = [];
  const readAll = (): void => {
    for (let batch = reader.readBatch(); batch.length > 0; batch = reader.readBatch()) rows.push(...batch);
  };
  for (const piece of piecesOf(Buffer.from(content), cuts)) {
    lines.append(decoder.decode(piece).text);
    readAll();
  }
  lines.append(decoder.end().text);
  lines.ended = true;
  readAll();
  const unfinished = /[^\r\n]$/.test(content) ? 1 : 0;
  expect(lines.line - 1).toBe(countLineEnds(content) + unfinished);
  return rows;
}

function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

const delimiter = fc.constantFrom<Delimiter>(',', ';', '\t', '|');
const cuts = fc.array(fc.nat(), { maxLength: 12 });
const pieces = ['x', 'é', '😀', ' ', ',', ';', '\t', '|', '"', '\n', '\r\n', '\r', '\0', "'"] as const;
const text = (maxLength: number) =>
  fc.array(fc.constantFrom(...pieces), { maxLength }).map((found) => found.join(''));

describe('RowReader and csv-parse', () => {
  test('rows of any values, line ends, quotes and pieces are the same as csv-parse alone reads', () => {
    const row = fc.record({ values: fc.tuple(text(5), text(5), text(5)), quoted: fc.boolean() });
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(
        fc.array(fc.tuple(row, lineEnd, fc.nat({ max: 3 })), { maxLength: 30 }),
        delimiter,
        cuts,
        (written, separator, cuts) => {
          let content = '';
          const lines: number[] = [];
          for (const [{ values, quoted }, end, blank] of written) {
            lines.push(countLineEnds(`${content}x`) + 1);
            content += values.map((value) => cell(value, separator, quoted)).join(separator) + end;
            // Sometimes blank lines.
            if (blank === 3) content += end.repeat(2);
          }
          const rows = read(content, 3, separator, cuts);
          expect(rows.map(({ kind }) => kind)).not.toContain('broken');
          expect(rows.map((found) => (found.kind === 'row' ? found.values : found))).toEqual(
            parse(content, {
              delimiter: separator,
              record_delimiter: ['\r\n', '\n', '\r'],
              relax_column_count: true,
            }).filter(({ length }) => length > 1),
          );
          expect(rows.map(({ line }) => line)).toEqual(lines);
        },
      ),
      { numRuns: 500 },
    );
  });
});

/** A value as CSV, quoted where necessary. */
function cell(value: string, separator: Delimiter, always: boolean): string {
  const must = always || /["\r\n]/.test(value) || value.includes(separator);
  return must ? `"${value.replaceAll('"', '""')}"` : value;
}

describe('every line of any file is in a row, broken or blank', () => {
  test('any file is read as by reading it line by line', () => {
    fc.assert(
      fc.property(
        text(60),
        delimiter,
        fc.constantFrom(1, 2, 3),
        cuts,
        (content, separator, columns, cuts) => {
          expect(read(content, columns, separator, cuts)).toEqual(readSlowly(content, columns, separator));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a file of mostly good rows is read as by reading it line by line', () => {
    const line = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('1,2', '"1","2"', '"a\nb",2', '"1, ""2""",', 'é,"😀"') },
      { weight: 1, arbitrary: fc.constantFrom('"1,2', '1,"2"x', '1"2,3', '1, "2"', '"a\n\nb","c', '1', '') },
    );
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }),
        fc.constantFrom('\n', '\r\n'),
        cuts,
        (lines, end, cuts) => {
          const content = lines.join('\n').replaceAll('\n', end);
          expect(read(content, 2, ',', cuts)).toEqual(readSlowly(content, 2, ','));
        },
      ),
      { numRuns: 500 },
    );
  });
});

/**
 * The rule in its simplest form. A line without a value that begins with a quote is split. Any other is parsed by
 * csv-parse with the following lines that pair its quotes. If that fails, the line is broken and the next one is
 * read; until the last line of the group, csv-parse parses every line with a quote.
 */
function readSlowly(content: string, columns: number, separator: Delimiter): Row[] {
  // The lines, each followed by its line end.
  const parts = content.split(/(\r\n|\n|\r)/);
  const lines = parts.filter((_, index) => index % 2 === 0);
  const ends = parts.filter((_, index) => index % 2 === 1);
  const rows: Row[] = [];
  let strictUntil = -1;
  for (let index = 0; index < lines.length; index++) {
    const first = lines[index] ?? '';
    if (first === '') continue;
    const line = index + 1;
    const isQuoted = first
      .split(separator)
      .some((value) => value.replace(separator === '\t' ? /^ */ : /^[ \t]*/, '').startsWith('"'));
    if (!isQuoted && !(first.includes('"') && index <= strictUntil)) {
      rows.push(judged(line, first.split(separator), columns, first));
      continue;
    }
    let record = first;
    let last = index;
    for (; record.split('"').length % 2 === 0 && last + 1 < lines.length; last++) {
      record += `${ends[last]}${lines[last + 1]}`;
    }
    const values = parseOne(record, separator);
    const found = values === undefined ? undefined : judged(line, values, columns, first);
    if (found?.kind === 'row') {
      rows.push(found);
      index = last;
    } else {
      rows.push(found ?? { kind: 'broken', line, detail: expect.any(String), text: first });
      if (last > index) strictUntil = Math.max(strictUntil, last);
    }
  }
  return rows;
}

function judged(line: number, values: readonly string[], columns: number, text: string): Row {
  return values.length === columns
    ? { kind: 'row', line, values }
    : { kind: 'broken', line, detail: expect.stringContaining('but the header has'), text };
}

function parseOne(record: string, separator: Delimiter): string[] | undefined {
  try {
    const [values, ...others] = parse(record, {
      delimiter: separator,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
    });
    return others.length === 0 ? values : undefined;
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
}
