import { readSheet } from 'read-excel-file/node';
import { expect, test } from 'vitest';
import type { ContactRow } from '../../src/engine/reporting/contact-report.ts';
import { contactSheet, reportedStates } from '../../src/report/run/contact-sheet.ts';
import { inOrder, written } from '../support/sheets.ts';

const accepted: ContactRow = {
  file: 'one.csv',
  line: 2,
  values: ['0412 000 001', '=Ann', 'old'],
  text: '',
  isBeyondLimit: false,
  variant: null,
  result: {
    line: 2,
    state: 'accepted',
    column: null,
    reason: null,
    address: '+61412000001',
    variant: null,
    messageId: 'M1',
    units: '1',
    price: '0.0800',
  },
};
const filtered: ContactRow = {
  file: 'one.csv',
  line: 3,
  values: ['', 'Bo', ''],
  text: '',
  isBeyondLimit: false,
  variant: null,
  result: undefined,
};

function sheet(states = new Set(reportedStates), files: readonly string[] = ['one.csv']) {
  const columns = ['Mobile', 'name', 'Volley State'];
  const asOf = { at: new Date('2026-11-21T10:00:00Z') };
  const rows = inOrder([[accepted, filtered]]);
  return contactSheet('r1', { asOf, columns, files, hasVariants: false, rows }, states);
}

test('a workbook has numbers as numbers, and texts that start no formula', async () => {
  const [titles, first] = await readSheet(await written(sheet(), 'xlsx'));
  expect(titles).toEqual([
    'Mobile',
    'name',
    'Volley Run',
    'Volley Line',
    'Volley State',
    'Volley Column',
    'Volley Reason',
    'Volley Address',
    'Volley MessageID',
    'Volley Units',
    'Volley Price',
    'Volley Row',
  ]);
  expect(first).toEqual([
    '0412 000 001',
    "'=Ann",
    'r1',
    2,
    'accepted',
    null,
    null,
    '+61412000001',
    'M1',
    1,
    0.08,
    null,
  ]);
});

test("JSON uses the contact file's column names", async () => {
  const { rows } = JSON.parse((await written(sheet(), 'json')).toString());
  expect(rows).toMatchObject([
    { Mobile: '0412 000 001', name: '=Ann', 'Volley Line': 2, 'Volley Price': '0.0800' },
    { name: 'Bo', 'Volley State': 'filtered', 'Volley MessageID': null },
  ]);
});

test('a sheet of some states names them and has no other rows', async () => {
  const some = sheet(new Set(['accepted'] as const));
  expect(some.subtitle).toEqual(['one.csv', 'only accepted']);
  expect((await written(some, 'ndjson')).toString().trim().split('\n')).toHaveLength(1);
});

test('a sheet of several files names the file of each row', async () => {
  const { columns } = sheet(undefined, ['one.csv', 'two.csv']);
  expect(columns.map(({ title }) => title)).toContain('Volley File');
});
