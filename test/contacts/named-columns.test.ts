import { expect, test } from 'vitest';
import { openContactFile } from '../../src/contacts/contact-file.ts';
import { type ColumnNames, withColumnNames } from '../../src/contacts/named-columns.ts';
import { bytesOf } from '../support/bytes.ts';
import { collectBatches } from '../support/collect.ts';
import { number, sheetData, workbookOf } from '../support/workbooks.ts';

const open = async (content: string | Uint8Array, names: ColumnNames, name = 'list.csv') =>
  withColumnNames(await openContactFile(bytesOf(content), name), names);

test('columns have the names of the campaign, and rows stay as they are', async () => {
  const file = await open('Mobile,Note\n0412,a\n0413\n', { Phone: 'Mobile' });
  expect(file.header).toEqual(['Phone', 'Note']);
  expect(await collectBatches(file.batches)).toMatchObject([
    { kind: 'row', line: 2, values: ['0412', 'a'] },
    { kind: 'broken', line: 3, text: '0413' },
  ]);
});

test('names can be exchanged, and another column with such a name is not taken for it', async () => {
  const exchanged = await open('Phone,Mobile\n1,2\n', { Phone: 'Mobile', Mobile: 'Phone' });
  expect(exchanged.header).toEqual(['Mobile', 'Phone']);
  const other = await open('phone,Mobile\n1,2\n', { Phone: 'Mobile' });
  expect(other.header).toEqual(['phone (in the file)', 'Phone']);
});

test('a column with two names is there twice, with its notes and its place', async () => {
  const sheet = sheetData(['Name', 'Mobile'], ['Ann', number(412)]);
  const file = await open(await workbookOf(sheet), { Phone: 'Mobile', Tel: 'Mobile' }, 'list.xlsx');
  expect(file.header).toEqual(['Name', 'Phone', 'Tel']);
  const [row] = await collectBatches(file.batches);
  expect(row).toMatchObject({
    values: ['Ann', '412', '412'],
    notes: [undefined, { kind: 'number' }, { kind: 'number' }],
  });
  expect(file.place(2, 2)).toMatch(/!B2$/);
});

test('a name whose column is not in the file stays without a column', async () => {
  expect((await open('Mobile\n1\n', { Phone: 'Cell' })).header).toEqual(['Mobile']);
});
