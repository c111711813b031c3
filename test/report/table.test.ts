import { describe, expect, test } from 'vitest';
import { printable } from '../../src/report/printable.ts';
import { type Column, table } from '../../src/report/table.ts';

describe('what comes from files and from the service', () => {
  test('cannot command the terminal: control characters are shown', () => {
    expect(printable('a\u001b[2Jb\u0007\u009b31mc\u007f')).toBe('a\\x1b[2Jb\\x07\\x9b31mc\\x7f');
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
    const drawn = table(columns, [
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
    expect(table(columns, [{ name: '\u001b[31m', count: 1 }])).toContain('\\x1b[31m');
  });
});
