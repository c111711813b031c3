import { describe, expect, test } from 'vitest';
import { type Columns, integerColumn, textColumn } from '../../src/report/column.ts';
import { printable, printableFile, printableLines } from '../../src/report/printable.ts';
import { formatTable } from '../../src/report/table.ts';

describe('text from files and from the service', () => {
  test('control characters are shown, so they cannot command a terminal', () => {
    expect(printable('a\u001b[2Jb\u0007\u009b31mc\u007f')).toBe('a\\x1b[2Jb\\x07\\x9b31mc\\x7f');
  });

  test('bidi controls are shown, so they cannot reverse the text after them', () => {
    expect(printable('a\u202eb\u2066c\u200fd\u2028e')).toBe('a\\u202eb\\u2066c\\u200fd\\u2028e');
  });

  test('a file on a screen keeps lines and tabs and shows all other controls', () => {
    expect(printableFile('a\tb\r\nc\rd\u001b[8m\u009b\u202e\n')).toBe(
      'a\tb\r\nc\\u000dd\\u001b[8m\\u009b\\u202e\n',
    );
  });

  test('JSON on a screen is the same JSON', () => {
    const value = { name: 'a\u009b\u202e\u007f\u2028' };
    const shown = printableFile(JSON.stringify(value));
    expect(shown).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(shown)).toEqual(value);
  });

  test("the colours of Volley's own lines stay", () => {
    expect(printableLines('\u001b[1mrun\u001b[0m \u202e')).toBe('\u001b[1mrun\u001b[0m \\u202e');
  });

  test('printable text stays on one line', () => {
    expect(printable('one\r\ntwo\tthree')).toBe('one\\x0d\\x0atwo\\x09three');
  });

  test('other text stays unchanged', () => {
    expect(printable('Zoë 漢字 😀 «ok»')).toBe('Zoë 漢字 😀 «ok»');
  });
});

describe('formatTable alignment', () => {
  type Row = { readonly name: string; readonly count: number };
  const columns: Columns<Row> = [textColumn('name', 'Name'), integerColumn('count', 'Count')];

  test('numbers are aligned right', () => {
    const drawn = formatTable(columns, [
      { name: 'a', count: 5 },
      { name: 'b', count: 1234 },
    ]);
    expect(drawn.split('\n')).toEqual([
      '┌──────┬───────┐',
      '│ Name │ Count │',
      '├──────┼───────┤',
      '│ a    │     5 │',
      '│ b    │  1234 │',
      '└──────┴───────┘',
    ]);
  });

  test('cells show control characters', () => {
    expect(formatTable(columns, [{ name: '\u001b[31m', count: 1 }])).toContain('\\x1b[31m');
  });
});
