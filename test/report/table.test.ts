import { describe, expect, test } from 'vitest';
import { printable, printableFile, printableLines } from '../../src/report/printable.ts';
import { type Column, formatTable } from '../../src/report/table.ts';

describe('what comes from files and from the service', () => {
  test('cannot command the terminal: control characters are shown', () => {
    expect(printable('a\u001b[2Jb\u0007\u009b31mc\u007f')).toBe('a\\x1b[2Jb\\x07\\x9b31mc\\x7f');
  });

  test('cannot turn the direction of the text after it: bidi controls are shown', () => {
    expect(printable('a\u202eb\u2066c\u200fd\u2028e')).toBe('a\\u202eb\\u2066c\\u200fd\\u2028e');
  });

  test('keeps the lines and tabs of a file on a screen, and shows everything else that a terminal obeys', () => {
    expect(printableFile('a\tb\r\nc\rd\u001b[8m\u009b\u202e\n')).toBe(
      'a\tb\r\nc\\u000dd\\u001b[8m\\u009b\\u202e\n',
    );
  });

  test('is the same JSON, when a screen shows it', () => {
    const value = { name: 'a\u009b\u202e\u007f\u2028' };
    const shown = printableFile(JSON.stringify(value));
    expect(shown).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(shown)).toEqual(value);
  });

  test("leaves the colours of Volley's own lines alone", () => {
    expect(printableLines('\u001b[1mrun\u001b[0m \u202e')).toBe('\u001b[1mrun\u001b[0m \\u202e');
  });

  test('stays on its line', () => {
    expect(printable('one\r\ntwo\tthree')).toBe('one\\x0d\\x0atwo\\x09three');
  });

  test('is left alone otherwise', () => {
    expect(printable('Zoë 漢字 😀 «ok»')).toBe('Zoë 漢字 😀 «ok»');
  });
});

describe('a table', () => {
  type Row = { readonly name: string; readonly count: number };
  const columns: Column<Row>[] = [
    { title: 'Name', value: ({ name }) => name },
    { title: 'Count', value: ({ count }) => count, align: 'right' },
  ];

  test('lines figures up on the right', () => {
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

  test('shows control characters in its cells', () => {
    expect(formatTable(columns, [{ name: '\u001b[31m', count: 1 }])).toContain('\\x1b[31m');
  });
});
