import { describe, expect, test } from 'vitest';
import type { Fields } from '../../../src/dashboard/base/fields.ts';
import { addressOf, narrow, readQuestion, without } from '../../../src/dashboard/billing/billing-question.ts';

const now = new Date('2026-11-30T12:00:00Z');
const read = (fields: Fields, accounts: readonly string[] | null = null) =>
  readQuestion(fields, { zone: 'Pacific/Auckland', now, session: { accounts } });
const fieldsOf = (address: string): Fields => {
  const { searchParams } = new URL(address, 'http://volley');
  return Object.fromEntries([...searchParams.keys()].map((name) => [name, searchParams.getAll(name)]));
};

describe('readQuestion', () => {
  test('without fields it asks for the current month of the zone, by SubAccount', () => {
    const { asked, problems } = read({});
    expect(problems).toEqual({});
    expect(asked?.query).toEqual({
      by: ['SubAccount'],
      from: '2026-12-01T00:00',
      until: '2027-01-01T00:00',
      timeZone: 'Pacific/Auckland',
      filter: {},
      sort: { by: 'price', descending: true },
    });
  });

  test('payers are sorted by price, several dimensions and days by name, and others as asked if they can be', () => {
    const sortOf = (fields: Fields) => read(fields).asked?.query.sort;
    expect(sortOf({ by: 'ChargeCode' })).toEqual({ by: 'price', descending: true });
    expect(sortOf({ by: 'day' })).toBeUndefined();
    expect(sortOf({ by: ['SubAccount', 'ChargeCode'] })).toBeUndefined();
    expect(sortOf({ by: ['SubAccount', 'ChargeCode'], sort: 'ChargeCode' })).toEqual({
      by: 'ChargeCode',
      descending: false,
    });
    expect(sortOf({ sort: '-unknown' })).toEqual({ by: 'unknown', descending: true });
    expect(sortOf({ sort: 'campaign' })).toEqual({ by: 'price', descending: true });
  });

  test('an empty period is any time', () => {
    expect(read({ from: '', to: '' }).asked?.query).toMatchObject({ from: null, until: null });
  });

  test('a session with accounts asks for these only, unless it names one', () => {
    expect(read({}, ['main']).asked?.query.filter).toEqual({ account: ['main'] });
    expect(read({ account: 'other' }, ['main']).asked?.query.filter).toEqual({ account: ['other'] });
  });

  test('every wrong field has a sentence of its own', () => {
    const { asked, problems, question } = read({
      from: '2026-13',
      to: 'x',
      timeZone: 'Nowhere',
      by: 'colour',
    });
    expect(asked).toBeUndefined();
    expect(question.from).toBe('2026-13');
    expect(problems).toEqual({
      from: expect.stringContaining('Expected a date'),
      to: expect.stringContaining('Expected a date'),
      timeZone: expect.stringContaining('Expected a time zone'),
    });
    expect(read({ by: ['run', 'colour'] }).problems).toEqual({
      by: expect.stringContaining('"colour" is none of'),
    });
    expect(read({ from: '2026-11', to: '2026-10' }).problems).toEqual({
      to: expect.stringContaining('not after'),
    });
  });
});

test('an address asks the same question again, whatever its names contain', () => {
  const fields = {
    from: '2026-11',
    to: '',
    by: ['SubAccount', 'run'],
    subAccount: ['a&b=c', '(none)'],
    campaign: 'ü',
  };
  const { question } = read(fields);
  expect(read(fieldsOf(addressOf('/billing', question))).question).toEqual(question);
  const byNothing = read({ ...fields, by: '' }).question;
  expect(byNothing.by).toEqual([]);
  expect(read(fieldsOf(addressOf('/billing', byNothing))).question).toEqual(byNothing);
});

describe('narrow', () => {
  const { question } = read({ from: '2026-11', to: '2026-12' });

  test('a value becomes a filter, and the next dimension on the way to the run is asked', () => {
    const north = narrow(question, 'SubAccount', 'North');
    expect(north).toMatchObject({ filters: [['SubAccount', 'North']], by: ['ChargeCode'] });
    const offer = narrow({ ...question, by: ['campaign'] }, 'campaign', 'offer');
    expect(offer.by).toEqual(['run']);
    expect(narrow({ ...offer, by: ['SubAccount'] }, 'SubAccount', 'North').by).toEqual(['ChargeCode']);
    expect(narrow({ ...question, by: ['SubAccount', 'day'] }, 'SubAccount', 'North').by).toEqual(['day']);
  });

  test('a day or a month becomes the period', () => {
    expect(narrow(question, 'day', '2026-12-31')).toMatchObject({ from: '2026-12-31', to: '2027-01-01' });
    expect(narrow(question, 'month', '2026-12')).toMatchObject({
      from: '2026-12',
      to: '2027-01',
      by: ['day'],
    });
  });

  test('a filter can be taken off again', () => {
    expect(without(narrow(question, 'SubAccount', 'North'), 'SubAccount').filters).toEqual([]);
  });
});
