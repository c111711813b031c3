import { expect, test } from 'vitest';
import type { Fields } from '../../../src/dashboard/base/fields.ts';
import { readInvoiceQuestion } from '../../../src/dashboard/billing/invoice-question.ts';

const read = (fields: Fields) =>
  readInvoiceQuestion(fields, { zone: 'Pacific/Auckland', now: new Date('2026-12-31T12:00:00Z') });

test('without fields an invoice is of the last month of the zone, for all, with a decimal point', () => {
  expect(read({}).asked).toEqual({
    period: { from: '2026-12-01T00:00', until: '2027-01-01T00:00', timeZone: 'Pacific/Auckland' },
    scope: { accounts: null, subAccounts: null, channels: null },
    reading: { columns: {}, decimal: 'point', country: undefined, skipLines: 0 },
    skipUnreadable: false,
    filter: {},
  });
});

const full: Fields = {
  from: '2026-11',
  to: '',
  timeZone: 'UTC',
  decimal: 'comma',
  country: 'new zealand',
  skipLines: '2',
  skipUnreadable: 'yes',
  Price: 'Total & cost',
  account: 'main\r\n\r\nother ',
  subAccount: '(none)\nNorth',
  channel: ['sms', 'fax'],
};

test('every field decides how the invoice is read and compared', () => {
  expect(read(full).asked).toEqual({
    period: { from: '2026-11-01T00:00', until: null, timeZone: 'UTC' },
    scope: { accounts: ['main', 'other'], subAccounts: [null, 'North'], channels: ['sms', 'fax'] },
    reading: {
      columns: { Price: 'Total & cost' },
      decimal: 'comma',
      country: 'NZ',
      skipLines: 2,
    },
    skipUnreadable: true,
    filter: {},
  });
});

test('differences are limited to a finding, to what it means, and to a text; what cannot be asked is left out', () => {
  const asked = { finding: 'other price', means: 'charged too much', find: ' north ' };
  expect(read(asked).asked?.filter).toEqual({
    kind: 'other price',
    effect: 'charged too much',
    text: 'north',
  });
  expect(read({ finding: 'agrees', means: 'x', find: 'a\u0000b' }).asked?.filter).toEqual({});
});

test('every wrong field has a sentence of its own', () => {
  const { asked, problems } = read({ ...full, to: '2026-10', country: 'Atlantis', skipLines: 'x' });
  expect(asked).toBeUndefined();
  expect(problems).toEqual({
    country: expect.stringContaining('Expected a country'),
    skipLines: 'Expected a number of lines.',
  });
  expect(read({ ...full, to: '2026-10' }).problems).toEqual({ to: 'Expected a time after the start.' });
});
