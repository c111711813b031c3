import readWorkbook, { readSheet } from 'read-excel-file/node';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { formatXlsx } from '../../../src/report/formats/xlsx.ts';
import { formatRunReport } from '../../../src/report/run/format-run-report.ts';
import { hostileNames } from '../../support/pages.ts';
import { aReportedRun } from '../../support/run-pages.ts';
import { aLine, aSheet, type BillLine, concatenate, inOrder, written } from '../../support/sheets.ts';
import { zipParts } from '../../support/zip.ts';

afterEach(() => {
  vi.useRealTimers();
});

const cellsOf = async (...lines: BillLine[]) =>
  (await readSheet(await written(aSheet([lines]), 'xlsx'))).slice(1);

/** The XML of a worksheet, counted from 1. */
async function worksheet(bytes: Buffer, number: number): Promise<string> {
  return zipParts(bytes).get(`xl/worksheets/sheet${number}.xml`)?.text ?? '';
}

describe('a workbook read by another library', () => {
  test('numbers, times and texts keep their types, and empty cells stay empty', async () => {
    expect(await cellsOf(aLine(), aLine({ name: '0042', price: null, last: null }))).toEqual([
      ['North', 2, 1.5, new Date('2026-11-03T04:05:06Z')],
      ['0042', 2, null, null],
    ]);
  });

  test('titles come first and totals last', async () => {
    const sheet = aSheet([[aLine()], [aLine({ name: 'South' })]], {
      totals: () => [aLine({ name: 'Total', requests: '4', price: '3.00' })],
    });
    const rows = await readSheet(await written(sheet, 'xlsx'));
    expect(rows.map(([name, requests]) => [name, requests])).toEqual([
      ['Name', 'Requests'],
      ['North', 2],
      ['South', 2],
      ['Total', 4],
    ]);
  });

  test('a workbook without rows has the titles', async () => {
    expect(await cellsOf()).toEqual([]);
  });

  test('the last worksheet says what the report is, and of which time', async () => {
    const [, about] = await readWorkbook(await written(aSheet([[aLine()]]), 'xlsx'));
    expect(about).toMatchObject({ sheet: 'About' });
    expect(about?.data.slice(0, 4)).toEqual([
      ['Report', 'Bill'],
      [null, '2026-11-01 to 2026-12-01 (Pacific/Auckland)'],
      ['As of (UTC)', new Date('2026-12-01T00:00:00Z')],
      ['Lines', 1],
    ]);
  });

  test('a decimal of 15 digits is a number, and a longer one is its exact text', async () => {
    const cells = await cellsOf(
      aLine({ price: '-1234567890123.45' }),
      aLine({ price: '0.000000123456789012345' }),
      aLine({ price: '1234567890123.4567' }),
      aLine({ price: '0.1234567890123456' }),
    );
    expect(cells.map(([, , price]) => price)).toEqual([
      -1234567890123.45,
      1.23456789012345e-7,
      '1234567890123.4567',
      '0.1234567890123456',
    ]);
  });

  test.each([
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
    ['＝1+1', "'＝1+1"],
    ['+64211234567', '+64211234567'],
    ['\t=1', "'\t=1"],
    ['a\0b\u001b', 'a\\x00b\\x1b'],
    ['half \ud800 a pair', 'half \ufffd a pair'],
    ['<b>&amp;</b> ]]> "', '<b>&amp;</b> ]]> "'],
  ])('%j is the escaped text %j', async (name, shown) => {
    expect((await cellsOf(aLine({ name })))[0]?.[0]).toBe(shown);
  });

  test('a text over the limit of a cell is cut, with its length', async () => {
    const [row] = await cellsOf(aLine({ name: 'x'.repeat(40_000) }));
    expect(row?.[0]).toMatch(/^x{32000,} … \(40000 characters\)$/);
    expect(String(row?.[0])).toHaveLength(32_767);
  });
});

test('every row occurs once when it takes several worksheets, each with titles', async () => {
  const lines = Array.from({ length: 25 }, (_, index) => aLine({ name: `Line ${index}` }));
  const sheet = aSheet([lines.slice(0, 13), lines.slice(13)], { totals: () => [aLine({ name: 'Total' })] });
  const worksheets = await readWorkbook(await concatenate(formatXlsx(sheet, 11)));
  expect(worksheets.map((one) => one.sheet)).toEqual(['Bill', 'Bill 2', 'Bill 3', 'About']);
  expect(worksheets.map(({ data }) => data.length)).toEqual([11, 11, 7, 5]);
  const names = worksheets.slice(0, 3).map(({ data }) => data.map(([name]) => name));
  expect(names.map(([title]) => title)).toEqual(['Name', 'Name', 'Name']);
  expect(names.flatMap((each) => each.slice(1))).toEqual([...lines.map(({ name }) => name), 'Total']);
});

test('the first row is frozen and filters the rows without the totals', async () => {
  const xml = await worksheet(
    await written(aSheet([[aLine(), aLine()]], { totals: () => [aLine()] }), 'xlsx'),
    1,
  );
  expect(xml).toMatch(/<pane [^>]*ySplit="1"[^>]*state="frozen"/);
  expect(xml).toContain('<autoFilter ref="A1:D3"/>');
  expect(xml).toContain('r="A4"');
});

test('a column is wide enough for a total a thousand times its lines', async () => {
  const sheet = aSheet([[aLine({ price: '12345.6789' })]], {
    totals: () => [aLine({ price: '12345678.9000' })],
  });
  const xml = await worksheet(await written(sheet, 'xlsx'), 1);
  const width = Number(/<col min="3" max="3" width="(\d+)"/.exec(xml)?.[1]);
  expect(width).toBeGreaterThan('12,345,678.9000'.length + 2);
});

test('titles are escaped and cleaned like other texts', async () => {
  const title = '=1+1\u0000';
  const columns = [{ key: 'n', title, kind: 'text', value: ({ name }: BillLine) => name } as const];
  const sheet = aSheet([[aLine()]], { columns, subtitle: [title] });
  const [first, about] = await readWorkbook(await written(sheet, 'xlsx'));
  expect(first?.data[0]).toEqual(["'=1+1\\x00"]);
  expect(about?.data[1]).toEqual([null, "'=1+1\\x00"]);
});

test('no cell is a formula', async () => {
  const xml = await worksheet(await written(aSheet([[aLine({ name: '=1+1' })]]), 'xlsx'), 1);
  expect(xml).not.toContain('<f>');
});

test('the bytes do not depend on the time of writing', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-12-01T10:00:00Z') });
  const first = await written(aSheet([[aLine()]]), 'xlsx');
  vi.setSystemTime(new Date('2027-03-04T11:22:33Z'));
  expect(await written(aSheet([[aLine()]]), 'xlsx')).toEqual(first);
});

test.each(['', '[a]:b', 'History', "'quoted'", 'a/b*c?', 'x'.repeat(60), '\u0000'])(
  'a workbook with the title %j can be read',
  async (title) => {
    const [first] = await readWorkbook(await written(aSheet([[aLine()]], { title }), 'xlsx'));
    expect(first?.sheet).toMatch(/^[^[\]:*?/\\']{1,31}$/);
    expect(first?.data).toHaveLength(2);
  },
);

test('a failure of the rows is a failure of the workbook', async () => {
  async function* failing(): AsyncGenerator<readonly BillLine[], void, undefined> {
    yield [aLine()];
    throw new Error('the ledger is away');
  }
  await expect(written(aSheet([], { rows: failing() }), 'xlsx')).rejects.toThrow('the ledger is away');
});

test('a caller that stops early ends the reading of the rows', async () => {
  let ended = false;
  async function* endless(): AsyncGenerator<readonly BillLine[], void, undefined> {
    try {
      for (let number = 0; ; number++)
        yield Array.from({ length: 1_000 }, (_, index) =>
          aLine({ name: `${number} ${Math.sin(index * number)}` }),
        );
    } finally {
      ended = true;
    }
  }
  for await (const _ of formatXlsx(aSheet([], { rows: endless() }))) break;
  expect(ended).toBe(true);
});

test('rows in batches of one make the same workbook', async () => {
  const lines = Array.from({ length: 5 }, (_, index) => aLine({ name: `Line ${index}` }));
  const together = await readSheet(await written(aSheet([lines]), 'xlsx'));
  const oneByOne = aSheet([], { rows: inOrder(lines.map((line) => [line])) });
  expect(await readSheet(await written(oneByOne, 'xlsx'))).toEqual(together);
});

test('a report of several tables has a worksheet for each, and one that describes it', async () => {
  const bytes = await concatenate(
    formatRunReport(aReportedRun(), 'xlsx', { at: new Date('2026-11-04T00:00:00Z') }),
  );
  const sheets = await readWorkbook(bytes);
  expect(sheets.map(({ sheet }) => sheet)).toEqual([
    'Summary',
    'Timeline',
    'Sends',
    'Attempts',
    'Answer times',
    'Slowest requests',
    'Delivery results',
    'Conflicting reports',
    'Not accepted',
    'Resolved',
    'Cancelled recipients',
    ...[
      'Cost',
      'Cost by SubAccount',
      'Cost by ChargeCode',
      'Rejected by reason',
      'Rejected contacts',
      'About',
    ],
  ]);
  expect(sheets.find(({ sheet }) => sheet === 'Cost by SubAccount')?.data[1]).toEqual([
    ...[hostileNames[0], 1_234_567, 1_234_567, 98765.432, 98765.432, 14814.8148, -0.0001],
  ]);
  expect(sheets.at(-1)?.data[0]).toEqual(['Report', 'Run 261103-7k2mq']);
});
