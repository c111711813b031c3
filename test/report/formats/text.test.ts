import { describe, expect, test } from 'vitest';
import type { ReportFormat } from '../../../src/report/formats/sheet.ts';
import { aLine, aSheet, type BillLine, written } from '../../support/sheets.ts';

async function text(
  format: ReportFormat,
  batches: readonly (readonly BillLine[])[],
  totals?: BillLine[],
): Promise<string> {
  return (await written(aSheet(batches, totals ? { totals: () => totals } : {}), format)).toString();
}

describe('csv', () => {
  test('has titles, exact decimals, times in UTC, and nothing for what is not known', async () => {
    const lines = [[aLine({ price: '0.10000' })], [], [aLine({ name: 'a,b "c"', price: null, last: null })]];
    expect(await text('csv', lines)).toBe(
      'Name,Requests,Price,Last (UTC)\nNorth,2,0.10000,2026-11-03T04:05:06.000Z\n"a,b ""c""",2,,\n',
    );
  });

  test('has the titles alone when there are no rows', async () => {
    expect(await text('csv', [])).toBe('Name,Requests,Price,Last (UTC)\n');
  });

  test('makes texts inert, and leaves negative numbers and phone numbers alone', async () => {
    const csv = await text('csv', [
      [aLine({ name: '=1+1', price: '-2.50' }), aLine({ name: '+64211234567' })],
    ]);
    expect(csv.split('\n').slice(1, 3)).toEqual([
      "'=1+1,2,-2.50,2026-11-03T04:05:06.000Z",
      '+64211234567,2,1.50,2026-11-03T04:05:06.000Z',
    ]);
  });

  test('goes without totals, which a sum over the column would count twice', async () => {
    expect(await text('csv', [[aLine()]], [aLine({ name: 'Total' })])).not.toContain('Total');
  });
});

describe('json', () => {
  test('is one object with what the report is, its rows and its totals', async () => {
    const json = await text('json', [[aLine()], [aLine({ name: 'South' })]], [aLine({ name: 'Total' })]);
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

  test('is whole without any row, too', async () => {
    expect(JSON.parse(await text('json', [[], []]))).toMatchObject({ rows: [], totals: [] });
  });

  test('writes integers as numbers, also those that Postgres gives as texts, and keeps huge ones exact', async () => {
    const json = await text('json', [[aLine({ requests: '42' }), aLine({ requests: '9007199254740993' })]]);
    const rows = [expect.objectContaining({ requests: 42 }), { requests: '9007199254740993' }];
    expect(JSON.parse(json)).toMatchObject({ rows });
  });
});

describe('ndjson', () => {
  test('is one object a row, with the columns in their order whatever their names', async () => {
    const columns = ['2', '1', '__proto__'].map((key) => {
      return { key, title: key, kind: 'text', value: ({ name }: BillLine) => name } as const;
    });
    const sheet = aSheet([[aLine()], [aLine({ name: 'a\nb' })]], { columns });
    expect((await written(sheet, 'ndjson')).toString()).toBe(
      '{"2":"North","1":"North","__proto__":"North"}\n{"2":"a\\nb","1":"a\\nb","__proto__":"a\\nb"}\n',
    );
  });
});

describe('table', () => {
  test('says what it is, and shows every line with the totals under them', async () => {
    const shown = await text('table', [[aLine(), aLine({ name: 'South' })]], [aLine({ name: 'Total' })]);
    expect(shown).toMatch(/^Bill\n2026-11-01 to 2026-12-01 \(Pacific\/Auckland\)\n/);
    expect(shown).toMatch(/North +│ +2 │ +1\.50 │ 2026-11-03 04:05:06 │\n.*South.*\n│ +│ +│ +│ +│\n│ Total /);
  });

  test('shows a thousand lines, says how many more there are, and adds up all', async () => {
    const lines = Array.from({ length: 1_300 }, (_, index) => aLine({ name: `Line ${index}` }));
    const batches = [lines.slice(0, 700), lines.slice(700)];
    const shown = await text('table', batches, [aLine({ name: 'Total', requests: 2_600 })]);
    expect(shown.match(/Line \d+/g)).toHaveLength(1_000);
    expect(shown).toContain('2600');
    expect(shown).toContain('300 more lines are not shown (1300 in all)');
  });

  test('says when there are no lines', async () => {
    expect(await text('table', [])).toContain('No lines.');
  });

  test('shows control characters rather than obeying them', async () => {
    const title = '\u001b[2Jtitle';
    const columns = [{ key: 'n', title, kind: 'text', value: ({ name }: BillLine) => name } as const];
    const sheet = aSheet([[aLine({ name: '\u001b[2Jgone' })]], { title, subtitle: [title], columns });
    const shown = (await written(sheet, 'table')).toString();
    expect(shown.match(/\\x1b\[2J(title|gone)/g)).toHaveLength(4);
    expect(shown).not.toContain('\u001b');
  });
});

test.each(['csv', 'json', 'ndjson', 'xlsx', 'html'] as const)(
  '%s has the same bytes for the same figures',
  async (format) => {
    const sheet = () => aSheet([[aLine(), aLine({ name: '=x' })]], { totals: () => [aLine()] });
    expect(await written(sheet(), format)).toEqual(await written(sheet(), format));
  },
);
