import { describe, expect, test } from 'vitest';
import type { ReportFormat } from '../../../src/report/formats/sheet.ts';
import { aLine, aSheet, type BillLine, written } from '../../support/sheets.ts';

async function formatText(
  format: ReportFormat,
  batches: readonly (readonly BillLine[])[],
  totals?: BillLine[],
): Promise<string> {
  return (await written(aSheet(batches, totals ? { totals: () => totals } : {}), format)).toString();
}

describe('formatCsv', () => {
  test('CSV has titles, exact decimals, UTC times, and empty cells for unknown values', async () => {
    const lines = [[aLine({ price: '0.10000' })], [], [aLine({ name: 'a,b "c"', price: null, last: null })]];
    expect(await formatText('csv', lines)).toBe(
      'Name,Requests,Price,Last (UTC)\nNorth,2,0.10000,2026-11-03T04:05:06.000Z\n"a,b ""c""",2,,\n',
    );
  });

  test('CSV without rows has the titles', async () => {
    expect(await formatText('csv', [])).toBe('Name,Requests,Price,Last (UTC)\n');
  });

  test('CSV escapes formulas, but not negative numbers and phone numbers', async () => {
    const csv = await formatText('csv', [
      [aLine({ name: '=1+1', price: '-2.50' }), aLine({ name: '+64211234567' })],
    ]);
    expect(csv.split('\n').slice(1, 3)).toEqual([
      "'=1+1,2,-2.50,2026-11-03T04:05:06.000Z",
      '+64211234567,2,1.50,2026-11-03T04:05:06.000Z',
    ]);
  });

  test('CSV has no totals, which a sum over the column would count twice', async () => {
    expect(await formatText('csv', [[aLine()]], [aLine({ name: 'Total' })])).not.toContain('Total');
  });
});

describe('formatJson', () => {
  test('JSON is one object with title, rows and totals', async () => {
    const json = await formatText(
      'json',
      [[aLine()], [aLine({ name: 'South' })]],
      [aLine({ name: 'Total' })],
    );
    const line = { requests: 2, price: '1.50', last: '2026-11-03T04:05:06.000Z' };
    expect(JSON.parse(json)).toEqual({
      title: 'Bill',
      subtitle: ['2026-11-01 to 2026-12-01 (Pacific/Auckland)'],
      asOf: '2026-12-01T00:00:00.000Z',
      rows: [
        { name: 'North', ...line },
        { name: 'South', ...line },
      ],
      totals: [{ name: 'Total', ...line }],
    });
  });

  test('JSON without rows is valid', async () => {
    expect(JSON.parse(await formatText('json', [[], []]))).toMatchObject({ rows: [], totals: [] });
  });

  test('JSON has integers as numbers, also those that Postgres returns as text, and huge ones as text', async () => {
    const json = await formatText('json', [
      [aLine({ requests: '42' }), aLine({ requests: '9007199254740993' })],
    ]);
    const rows = [expect.objectContaining({ requests: 42 }), { requests: '9007199254740993' }];
    expect(JSON.parse(json)).toMatchObject({ rows });
  });
});

describe('formatNdjson', () => {
  test('NDJSON has one object per row, with columns in their order under any name', async () => {
    const columns = ['2', '1', '__proto__'].map((key) => {
      return { key, title: key, kind: 'text', value: ({ name }: BillLine) => name } as const;
    });
    const sheet = aSheet([[aLine()], [aLine({ name: 'a\nb' })]], { columns });
    expect((await written(sheet, 'ndjson')).toString()).toBe(
      '{"2":"North","1":"North","__proto__":"North"}\n{"2":"a\\nb","1":"a\\nb","__proto__":"a\\nb"}\n',
    );
  });
});

describe('formatSheetTable', () => {
  test('a table has title, lines and totals', async () => {
    const shown = await formatText(
      'table',
      [[aLine(), aLine({ name: 'South' })]],
      [aLine({ name: 'Total' })],
    );
    expect(shown).toMatch(/^Bill\n2026-11-01 to 2026-12-01 \(Pacific\/Auckland\)\n/);
    expect(shown).toMatch(/North +│ +2 │ +1\.50 │ 2026-11-03 04:05:06 │\n.*South.*\n│ +│ +│ +│ +│\n│ Total /);
  });

  test('decimals of a column have equally many places, and none is rounded', async () => {
    const prices = ['0', '0.08', '12.3456', null].map((price) => aLine({ price }));
    const shown = await formatText('table', [prices], [aLine({ name: 'Total', price: '12.4256' })]);
    expect([...shown.matchAll(/(?:North|Total) +│ +2 │ +(\S*) │/g)].map(([, price]) => price)).toEqual([
      '0.0000',
      '0.0800',
      '12.3456',
      '',
      '12.4256',
    ]);
  });

  test('a table shows a thousand lines, counts the rest, and totals all', async () => {
    const lines = Array.from({ length: 1_300 }, (_, index) => aLine({ name: `Line ${index}` }));
    const batches = [lines.slice(0, 700), lines.slice(700)];
    const shown = await formatText('table', batches, [aLine({ name: 'Total', requests: 2_600 })]);
    expect(shown.match(/Line \d+/g)).toHaveLength(1_000);
    expect(shown).toContain('2600');
    expect(shown).toContain('300 more lines are not shown (1300 in all)');
    expect(await formatText('table', [lines.slice(0, 1_001)])).toContain(
      '1 more line is not shown (1001 in all); other formats, such as csv, have it.',
    );
  });

  test('a table without lines says so', async () => {
    expect(await formatText('table', [])).toContain('No lines.');
  });

  test('a table shows control characters instead of obeying them', async () => {
    const title = '\u001b[2Jtitle';
    const columns = [{ key: 'n', title, kind: 'text', value: ({ name }: BillLine) => name } as const];
    const sheet = aSheet([[aLine({ name: '\u001b[2Jgone' })]], { title, subtitle: [title], columns });
    const shown = (await written(sheet, 'table')).toString();
    expect(shown.match(/\\x1b\[2J(title|gone)/g)).toHaveLength(4);
    expect(shown).not.toContain('\u001b');
  });
});

test.each(['csv', 'json', 'ndjson', 'xlsx', 'html'] as const)(
  '%s has equal bytes for equal figures',
  async (format) => {
    const sheet = () => aSheet([[aLine(), aLine({ name: '=x' })]], { totals: () => [aLine()] });
    expect(await written(sheet(), format)).toEqual(await written(sheet(), format));
  },
);
