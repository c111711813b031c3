import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openContactFile, type ReadingOptions } from '../../src/contacts/contact-file.ts';
import { encodings } from '../../src/platform/encodings.ts';
import type { CsvForm } from '../../src/report/formats/sheet.ts';
import { contactSheet, reportedStates } from '../../src/report/run/contact-sheet.ts';
import { bytesOf } from '../support/bytes.ts';
import { collectBatches } from '../support/collect.ts';
import { inOrder, written } from '../support/sheets.ts';

const columns = ['name', '=total', "'+1", '-'];

/** The result file of a contact file with these rows. */
async function resultFile(rows: readonly (readonly string[])[], csv?: CsvForm): Promise<Buffer> {
  const contacts = rows.map((values, index) => {
    return {
      file: 'contacts.csv',
      line: index + 2,
      values,
      text: '',
      result: undefined,
      variant: null,
      isBeyondLimit: false,
    };
  });
  const files = ['contacts.csv'];
  const report = {
    asOf: { at: new Date() },
    columns,
    files,
    csv,
    hasVariants: false,
    rows: inOrder([contacts]),
  };
  return written(contactSheet('r', report, new Set(reportedStates)), 'csv');
}

async function readAgain(csv: string | Buffer, options: ReadingOptions = {}) {
  const { header, batches } = await openContactFile(bytesOf(csv), 'result.csv', options);
  const rows = await collectBatches(batches);
  return {
    header,
    rows: rows.map((row) => (row.kind === 'row' ? row.values.slice(0, columns.length) : row)),
  };
}

test('a result file that is read again has the texts of the contact file, whatever their first characters', async () => {
  const begin = fc.constantFrom('', "'", "''", '=', '+', '-', '@', '\t', '\n', '＝', '＋', '－', '＠');
  const value = fc.tuple(begin, begin, fc.string({ unit: 'grapheme' })).map((parts) => parts.join(''));
  const row = fc.tuple(fc.constant('x'), value, value, value);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      expect(await readAgain(await resultFile(rows))).toMatchObject({
        header: expect.arrayContaining(columns),
        rows,
      });
    }),
  );
});

test('formulas are escaped in the result file', async () => {
  const csv = (await resultFile([['=1+1', '@SUM(A1)', '+64211234567', '-1.50']])).toString();
  expect(csv).toMatch(/^name,'=total,''\+1,'-,Volley Run,Volley Line,/);
  expect(csv).toContain("\n'=1+1,'@SUM(A1),+64211234567,-1.50,r,2,filtered,");
});

test("a result file is read as Volley or a spreadsheet wrote it, whatever the campaign's settings", async () => {
  const rows = [['Zo\u00eb', 'a', 'b', 'c']];
  const csv = (await resultFile(rows)).toString();
  const ofCampaign = { encoding: 'windows-1252', delimiter: '|', skipLines: 2 } as const;
  const savedAgain = Buffer.from(`\ufeff${csv.replaceAll(',', '\t')}`, 'utf16le');
  for (const file of [csv, savedAgain]) expect(await readAgain(file, ofCampaign)).toMatchObject({ rows });
});

test('an apostrophe in a contact file that Volley did not write stays', async () => {
  expect(await readAgain("name,a,b,Volley State\nx,'=1,'-,y\n")).toMatchObject({
    rows: [['x', "'=1", "'-", 'y']],
  });
});

test.each(
  encodings.flatMap((encoding) => [',', ';', '\t', '|'].map((delimiter) => [encoding, delimiter] as const)),
)(
  'a result file in %s with the delimiter %j is read again with the texts of the contact file',
  async (encoding, delimiter) => {
    const rows = [
      ['Zoë Müller', 'a;b', 'c,d', 'e|f'],
      ['René', '', '"x"', '2'],
    ];
    const csv = { encoding, byteOrderMark: encoding.startsWith('utf-'), delimiter };
    const file = await resultFile(rows, csv);
    const options: ReadingOptions = encoding.startsWith('utf-') ? {} : { encoding };
    expect(await readAgain(file, options)).toMatchObject({ rows });
  },
);

test('a character that the encoding of a result file does not have is refused, and the message names UTF-8', async () => {
  const csv = { encoding: 'windows-1252', byteOrderMark: false, delimiter: ';' } as const;
  await expect(resultFile([['Ж', 'a', 'b', 'c']], csv)).rejects.toThrow(
    /windows-1252 does not have the character "Ж"\. Write the file with --encoding utf-8\./,
  );
});
