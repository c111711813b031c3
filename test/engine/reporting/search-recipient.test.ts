import { beforeAll, expect, test } from 'vitest';
import { searchRecipient } from '../../../src/engine/reporting/recipient-report.ts';
import { searchSentences } from '../../../src/report/search-words.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
beforeAll(async () => {
  const address = 'Ann.B@example.org';
  const others = ['nn.b@example.org', 'ann.b@example.org.nz', 'annxb@example.org'];
  const contacts = [address, ...others].map((each, index) => aContact(index + 2, { address: each }));
  for (const account of ['sandbox', 'sandbox', 'other'])
    await planContacts(opened.ledger, aRun({ account, channel: 'email' }), contacts);
});

const accountsOf = async (text: string, search: Partial<Parameters<typeof searchRecipient>[2]> = {}) => {
  const { histories, hasMore } = await searchRecipient(opened.context, text, { limit: 10, ...search });
  expect(new Set(histories.map(({ line }) => line)).size).toBeLessThanOrEqual(1);
  return { accounts: histories.map(({ account }) => account), hasMore };
};

test('an e-mail address is found however its letters are written, and no other address', async () => {
  for (const text of ['ann.b@example.org', 'ANN.B@EXAMPLE.ORG', ' Ann.B@example.org '])
    expect(await accountsOf(text)).toEqual({ accounts: ['other', 'sandbox', 'sandbox'], hasMore: false });
});

test('pages go on where the one before ended', async () => {
  expect(await accountsOf('ann.b@example.org', { limit: 2 })).toEqual({
    accounts: ['other', 'sandbox'],
    hasMore: true,
  });
  expect(await accountsOf('ann.b@example.org', { limit: 2, skip: 2 })).toEqual({
    accounts: ['sandbox'],
    hasMore: false,
  });
});

test('only runs of the given accounts are found', async () => {
  expect((await accountsOf('ann.b@example.org', { accounts: ['other'] })).accounts).toEqual(['other']);
  expect((await accountsOf('ann.b@example.org', { accounts: [] })).accounts).toEqual([]);
});

test('an address that no run sent to is returned normalised', async () => {
  const found = await searchRecipient(opened.context, '021 123 4567', { country: 'NZ', limit: 1 });
  expect(found).toMatchObject({
    readings: [{ kind: 'address', address: '+64211234567', country: 'NZ' }, { kind: 'chargeCode' }],
    histories: [],
  });
});

test('a local number is read in the country of the campaigns that ran, the newest first', async () => {
  const definition = { contacts: { country: 'AU' } };
  await planContacts(opened.ledger, aRun({ account: 'local', definition }), [
    aContact(2, { address: '+61412000005' }),
  ]);
  const search = { limit: 1, accounts: ['local'] };
  const found = await searchRecipient(opened.context, '0412 000 005', search);
  expect(found.histories).toMatchObject([{ address: '+61412000005', row: 2 }]);
  expect(searchSentences(found, 'UTC')[0]).toBe('Searched as a number of Australia: +61412000005.');
  const elsewhere = await searchRecipient(opened.context, '0412 000 005', { ...search, accounts: ['other'] });
  expect(elsewhere.histories).toEqual([]);
  expect(searchSentences(elsewhere, 'UTC').join(' ')).toContain('no country code');
});

test('a ChargeCode finds the recipients that are booked to it', async () => {
  const run = await planContacts(opened.ledger, aRun({ account: 'payer' }), [
    aContact(2, { address: '+61412000006', envelope: anEnvelope({ Message: 'Hello', ChargeCode: 'C-7/x' }) }),
    aContact(3, { address: '+61412000007', envelope: anEnvelope({ Message: 'Hello', ChargeCode: 'C-8' }) }),
  ]);
  await opened.ledger.pool.query(
    `INSERT INTO run_costs VALUES ($1, 'ChargeCode', 'C-7/x', 1, 1, 0, 0, 0, 0)`,
    [run],
  );
  const { histories, readings } = await searchRecipient(opened.context, 'C-7/x', { limit: 10 });
  expect(histories).toMatchObject([{ address: '+61412000006', chargeCode: 'C-7/x' }]);
  expect(readings).toEqual([{ kind: 'chargeCode' }]);
});
