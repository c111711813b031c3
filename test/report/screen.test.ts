import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { type Columns, integerColumn, textColumn } from '../../src/report/column.ts';
import { formatSheetTable } from '../../src/report/formats/table.ts';
import { plainScreen } from '../../src/report/screen.ts';
import { formatTable } from '../../src/report/table.ts';
import { collect } from '../support/collect.ts';

type Row = { readonly run: string; readonly state: string; readonly sent: number };
const rows: readonly Row[] = [
  { run: '261122-7k2mq', state: 'completed', sent: 12 },
  { run: '261122-8r5x5', state: 'in doubt', sent: 3 },
];
const columns: Columns<Row> = [
  textColumn('run', 'Run'),
  textColumn('state', 'State', { minor: 1 }),
  integerColumn('sent', 'Recipients sent', { minor: 2 }),
];
const screen = (width: number) => ({ width, colour: false });
const widest = (text: string) => Math.max(...text.split('\n').map((line) => stringWidth(line)));

describe('formatTable', () => {
  test('a table that fits the terminal is the same as in a file', () => {
    const whole = formatTable(columns, rows);
    expect(formatTable(columns, rows, screen(widest(whole)))).toBe(whole);
  });

  test('a table that is too wide drops its least important columns and names them', () => {
    const text = formatTable(columns, rows, screen(40));
    expect(text.split('\n')[1]).toBe('│ Run          │ State     │');
    expect(text.split('\n').at(-1)).toBe('Not shown, because the terminal is too narrow: Recipients sent.');
    expect(formatTable(columns, rows, screen(20))).toContain('narrow: State, Recipients sent');
  });

  test('a table without droppable columns becomes records', () => {
    expect(formatTable(columns, rows, screen(15))).toBe(
      [
        'Run              261122-7k2mq\nState            completed\nRecipients sent  12',
        'Run              261122-8r5x5\nState            in doubt\nRecipients sent  3',
      ].join('\n\n'),
    );
  });

  test('width is what is visible: wide letters count twice, colours not at all', () => {
    const wide: Columns<string> = [
      textColumn('name', 'Name', (name) => name),
      textColumn('x', 'x', () => 'x', { minor: 1 }),
    ];
    const drawn = formatTable(wide, ['東京'], { width: 12, colour: true });
    expect(drawn).not.toContain('Not shown');
    expect(formatTable(wide, ['東京都庁舎'], { width: 16, colour: true })).toContain('narrow: x');
  });
});

test('a terminal shows the first 50 lines, counts the rest, and has all totals', async () => {
  const sheet = {
    title: 'Billing',
    subtitle: [],
    asOf: { at: new Date(0) },
    columns: [integerColumn('n', 'N', (n: number) => n)],
    totals: () => [999],
  };
  async function* numbers() {
    yield Array.from({ length: 400 }, (_, index) => index);
  }
  const shown = (await collect(formatSheetTable({ ...sheet, rows: numbers() }, screen(80)))).join('');
  expect(shown).toMatch(/│ {2}49 │\n│ {5}│\n│ 999 │/);
  expect(shown).toContain('350 more lines are not shown (400 in all)');
  expect((await collect(formatSheetTable({ ...sheet, rows: numbers() }, plainScreen))).join('')).toContain(
    '│ 399 │',
  );
});
