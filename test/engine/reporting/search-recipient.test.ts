import { beforeAll, expect, test } from 'vitest';
import { searchRecipient } from '../../../src/engine/reporting/recipient-report.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
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
  expect(found).toMatchObject({ address: '+64211234567', histories: [] });
});
