import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Sheet } from '../../../src/report/formats/sheet.ts';
import { groupThousands } from '../../../src/report/html/figures.ts';
import { createTablePart, formatHtml, formatPage } from '../../../src/report/html/page.ts';
import { pageOf } from '../../support/pages.ts';
import { aLine, aSheet, type BillLine, concatenate, inOrder } from '../../support/sheets.ts';

test('a page has title, rows and totals, and the time of its figures', async () => {
  const page = await pageOf(aSheet([[aLine()]], { totals: () => [aLine({ name: 'Total' })] }));
  expect(page).toContain(
    '<h1 dir="auto">Bill</h1>\n<p dir="auto">2026-11-01 to 2026-12-01 (Pacific/Auckland)</p>',
  );
  expect(page).toContain('<th scope="col" class="n">Price</th>');
  expect(page).toContain(
    '<tr><th scope="row" dir="auto" class="s">North</th><td class="n">2</td><td class="n">1.50</td><td class="t"><span>2026-11-03</span> <span>04:05:06</span></td></tr>',
  );
  expect(page).toMatch(/<tfoot class="few">\n<tr><th scope="row" dir="auto" class="s">Total/);
  expect(page).toContain('As of 2026-12-01 00:00:00 UTC.');
});

test('a page can have several tables with different rows', async () => {
  const other: Sheet<number> = {
    title: 'Other',
    subtitle: [],
    asOf: { at: new Date(0) },
    rows: inOrder([[7]]),
    columns: [{ key: 'n', title: 'Number', kind: 'integer', value: (row) => row }],
  };
  const tables = [createTablePart(aSheet([[aLine()]]), 'Bill'), createTablePart(other, 'Other <things>')];
  const page = formatPage({ title: 'Both', subtitle: [], asOf: { at: new Date(0) }, charts: [], tables });
  const html = (await concatenate(page)).toString();
  expect(html.match(/<caption>.*?<\/caption>/g)).toEqual([
    '<caption>Bill</caption>',
    '<caption>Other &lt;things&gt;</caption>',
  ]);
  expect(html).toContain('<th scope="row" class="n">7</th>');
});

test('decimals of a column have equally many places, and none is rounded', async () => {
  const rows = ['0', '1234.5', null].map((price) => aLine({ price }));
  const page = await pageOf(aSheet([rows], { totals: () => [aLine({ price: '1234.500' })] }));
  expect(
    [...page.matchAll(/<td class="n">2<\/td><td class="n">(.*?)<\/td>/g)].map(([, text]) => text),
  ).toEqual(['0.000', '1,234.500', '', '1,234.500']);
});

test('a page without lines says so', async () => {
  expect(await pageOf(aSheet([]))).toContain('<td colspan="4">No lines.</td>');
});

describe('a long table', () => {
  /** A page of this many lines. */
  async function longPage(count: number): Promise<string> {
    const rows = Array.from({ length: count }, (_, index) => aLine({ name: `Line ${index + 1}` }));
    const batches = inOrder([rows.slice(0, 150), rows.slice(150, 1_999), rows.slice(1_999)]);
    const sheet = aSheet([], { rows: batches, totals: () => [aLine({ name: `All ${count}` })] });
    return (await concatenate(formatHtml(sheet))).toString();
  }
  const visible = (page: string): string => page.split('<details class="more">')[0] ?? '';
  const namesIn = (part: string): string[] =>
    [...part.matchAll(/>(Line \d+)</g)].map(([, name = '']) => name);

  test('of 200 lines is whole', async () => {
    const page = await longPage(200);
    expect(namesIn(page)).toHaveLength(200);
    expect(page).not.toContain('<details class="more">');
  });

  test('of 2,000 lines shows 200 with the totals of all, and the others on a click', async () => {
    const page = await longPage(2_000);
    expect(namesIn(visible(page)).at(-1)).toBe('Line 200');
    expect(visible(page)).toContain('All 2000');
    expect(page).toContain('<summary>Lines 201 to 2,000</summary>');
    expect(namesIn(page)).toEqual(Array.from({ length: 2_000 }, (_, index) => `Line ${index + 1}`));
    expect(page).not.toContain('not in this page');
  });

  test('of more lines says how many it leaves out, and where they are', async () => {
    const page = await longPage(3_000);
    expect(namesIn(page)).toHaveLength(2_000);
    expect(page).toContain('<summary>Lines 201 to 2,000 of 3,000</summary>');
    expect(page).toContain(
      'Lines 2,001 to 3,000 are not in this page; totals are of all lines. Other formats, such as csv, have every line.',
    );
    expect(page).toContain('All 3000');
    expect(await longPage(2_001)).toContain('Line 2,001 is not in this page');
  });
});

test('the head of a page is written before its rows are read', async () => {
  const asked: number[] = [];
  async function* rows(): AsyncGenerator<readonly BillLine[], void, undefined> {
    for (let number = 1; number <= 2; number++) {
      asked.push(number);
      yield [aLine({ name: `Line ${number}` })];
    }
  }
  for await (const piece of formatHtml(aSheet([], { rows: rows() }))) if (piece.includes('<body')) break;
  expect(asked).toEqual([]);
});

test('no text of a report can close the element around it', async () => {
  const text = fc.stringMatching(/^[<>&"'a-z/!= -]{1,30}$/);
  await fc.assert(
    fc.asyncProperty(text, async (name) => {
      const page = await pageOf(aSheet([[aLine({ name })]], { title: name, subtitle: [name] }));
      const plain = await pageOf(aSheet([[aLine({ name: 'x' })]], { title: 'x', subtitle: ['x'] }));
      expect(page.match(/<[^>]*>/g)).toEqual(plain.match(/<[^>]*>/g));
    }),
    { numRuns: 50 },
  );
});

test.each([
  ['1234567.50', '1,234,567.50'],
  ['-1000', '-1,000'],
  ['999', '999'],
  ['0.1234567', '0.1234567'],
  ['12345678901234567890.12345', '12,345,678,901,234,567,890.12345'],
  ['1e21', '1e21'],
])('the figure %s is shown as %s', (figure, shown) => {
  expect(groupThousands(figure)).toBe(shown);
});
