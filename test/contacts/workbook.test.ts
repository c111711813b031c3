import { describe, expect, test } from 'vitest';
import { openContactFile, type ReadingOptions, type Row } from '../../src/contacts/contact-file.ts';
import { bytesOf } from '../support/bytes.ts';
import { collectBatches } from '../support/collect.ts';
import { type Cell, number, sheetData, type WorkbookOptions, workbookOf } from '../support/workbooks.ts';

async function read(content: Buffer, options: ReadingOptions = {}, name = 'list.xlsx') {
  const file = await openContactFile(bytesOf(content, 50_000), name, options);
  const rows = await collectBatches(file.batches);
  return { header: file.header, rows, format: file.format(), lines: file.lines() };
}

const valuesOf = (rows: readonly Row[]) =>
  rows.map((row) => (row.kind === 'row' ? row.values : [row.detail]));

/** The values of the rows below the header `a, b, …`. */
async function values(rows: readonly (readonly Cell[])[], options?: WorkbookOptions) {
  const width = Math.max(...rows.map(({ length }) => length));
  const header = Array.from({ length: width }, (_, index) => String.fromCharCode(97 + index));
  return valuesOf((await read(await workbookOf(sheetData(header, ...rows), options))).rows);
}

test('rows are read with their numbers, without empty ones', async () => {
  const { header, rows, lines } = await read(
    await workbookOf(
      '<row r="2"><c r="A2" t="inlineStr"><is><t> mobile </t></is></c><c r="B2" t="inlineStr"><is><t>name</t></is></c></row>' +
        '<row r="3"><c r="A3" s="0"/></row>' +
        '<row r="5"><c r="B5" t="inlineStr"><is><t>Ann</t></is></c></row>',
    ),
  );
  expect(header).toEqual(['mobile', 'name']);
  expect(rows).toEqual([{ kind: 'row', line: 5, values: ['', 'Ann'] }]);
  expect(lines).toBe(5);
});

describe('a cell is read as it is shown:', () => {
  test.each<[string, number | string, string]>([
    ['General', 412345678, '412345678'],
    ['General', 614123456789, '614123456789'],
    ['General', 0.30000000000000004, '0.3'],
    ['General', '6.1412345678E10', '61412345678'],
    ['@', 412345678, '412345678'],
    ['0000000000', 412345678, '0412345678'],
    ['"$"#,##0.00', 1234.5, '$1,234.50'],
    ['_-"$"* #,##0.00_-;-"$"* #,##0.00_-', 1234.5, '$1,234.50'],
    ['0%', 0.125, '13%'],
    ['dd/mm/yyyy', 45_000, '15/03/2023'],
    ['yyyy-mm-dd\\ hh:mm', 45_000.5, '2023-03-15 12:00'],
    ['[$-F800]dddd\\,\\ mmmm\\ dd\\,\\ yyyy', 45_000, '2023-03-15'],
    ['h:mm AM/PM', 0.75, '6:00 PM'],
    ['[h]:mm', 1.5, '36:00'],
    ['0.00E+00', 61412345678, '6.14E+10'],
  ])('%s shows %s as %j', async (format, value, text) => {
    expect(await values([[number(value, 1)]], { formats: [format] })).toEqual([[text]]);
  });

  test.each<[number, number, string]>([
    [0, 2, '2'],
    [2, 2, '2.00'],
    [9, 0.5, '50%'],
    [14, 45_000, '2023-03-15'],
    [22, 45_000.5, '2023-03-15 12:00'],
    [44, -2, '($2.00)'],
    [57, 45_000, '2023-03-15'],
  ])('the built-in format %i shows %s as %j', async (format, value, text) => {
    expect(await values([[number(value, 1)]], { builtIn: [format] })).toEqual([[text]]);
  });
});
