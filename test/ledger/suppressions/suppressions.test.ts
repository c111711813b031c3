import { afterEach, describe, expect, test } from 'vitest';
import type { Suppression } from '../../../src/domain/suppressions.ts';
import {
  addSuppressions,
  importSuppressions,
  type ListedAddress,
} from '../../../src/ledger/suppressions/add.ts';
import { listSuppressions, type SuppressionFilter } from '../../../src/ledger/suppressions/list.ts';
import { removeSuppressions } from '../../../src/ledger/suppressions/remove.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
afterEach(async () => {
  await opened.ledger.pool.query('DELETE FROM suppressions');
});

const createdAt = new Date('2026-11-21T10:00:00Z');

function suppression(address: string, changes: Partial<Suppression> = {}): Suppression {
  return {
    channel: 'sms',
    address,
    account: '',
    subAccount: '',
    reason: '',
    source: 'operator',
    createdAt,
    ...changes,
  };
}

const add = (...suppressions: Suppression[]) => addSuppressions(opened.ledger.pool, suppressions);

async function listedPages(
  filter: SuppressionFilter = {},
  limit?: number,
): Promise<(readonly Suppression[])[]> {
  const pages: (readonly Suppression[])[] = [];
  const count = await listSuppressions(opened.ledger.pool, filter, {
    limit,
    onPage: (page) => void pages.push(page),
  });
  expect(pages.flat()).toHaveLength(count);
  return pages;
}

async function listed(filter: SuppressionFilter = {}, limit?: number): Promise<Suppression[]> {
  return (await listedPages(filter, limit)).flat();
}

const written = ({ channel, address, subAccount }: Suppression) =>
  [channel, address, subAccount].filter((text) => text !== '').join(' ');

test('a suppression is stored with its reason, source and time', async () => {
  const suppressions = [suppression('+6421', { reason: 'STOP', source: 'reply' }), suppression('+6422')];
  expect(await add(...suppressions)).toBe(2);
  expect(await listed()).toEqual(suppressions.map((each) => ({ ...each, run: null, by: null })));
});

test('a suppressed address keeps its earlier reason, and only new addresses count', async () => {
  await add(suppression('+6421', { reason: 'earlier' }));
  expect(await add(suppression('+6421', { reason: 'later' }), suppression('+6422'))).toBe(1);
  expect((await listed()).map(({ reason }) => reason)).toEqual(['earlier', '']);
});

test('an address that is given twice is suppressed once, for the first reason', async () => {
  expect(await add(suppression('+6421', { reason: 'one' }), suppression('+6421', { reason: 'two' }))).toBe(1);
  expect(await listed()).toMatchObject([{ reason: 'one' }]);
});

test('an address can be suppressed in several channels, and for all or single SubAccounts, independently', async () => {
  const all = [
    suppression('+6421', { channel: 'fax' }),
    suppression('+6421'),
    suppression('+6421', { subAccount: 'A' }),
    suppression('+6421', { subAccount: 'B' }),
  ];
  expect(await add(...all)).toBe(4);
  const { channel, address, subAccount } = suppression('+6421', { subAccount: 'A' });
  expect(
    await removeSuppressions(opened.ledger.pool, [{ channel, address, subAccount }], new Date()),
  ).toEqual([{ channel, address, account: '', subAccount }]);
  expect((await listed()).map(written)).toEqual(['fax +6421', 'sms +6421', 'sms +6421 B']);
});

test('removing skips addresses that are not suppressed and removes the others', async () => {
  await add(suppression('+6421'));
  const key = { channel: 'sms', account: '', subAccount: '' } as const;
  const keys = [
    { ...key, address: '+6421' },
    { ...key, address: '+6422' },
  ];
  expect(await removeSuppressions(opened.ledger.pool, keys, new Date())).toEqual([
    { ...key, address: '+6421' },
  ]);
  expect(await listed()).toEqual([]);
});

describe('listing suppressions', () => {
  test.each<[SuppressionFilter, string[]]>([
    [{}, ['email a@b.example', 'sms +6421', 'sms +6421 ACME', 'voice +6421']],
    [{ channel: 'sms' }, ['sms +6421', 'sms +6421 ACME']],
    [{ address: '+6421' }, ['sms +6421', 'sms +6421 ACME', 'voice +6421']],
    [{ subAccount: 'ACME' }, ['sms +6421 ACME']],
    [{ subAccount: '' }, ['email a@b.example', 'sms +6421', 'voice +6421']],
    [{ channel: 'sms', subAccount: '' }, ['sms +6421']],
    [{ channel: 'fax' }, []],
  ])('a list filtered by %o has those suppressions, in key order', async (filter, expected) => {
    await add(
      suppression('+6421', { channel: 'voice' }),
      suppression('+6421', { subAccount: 'ACME' }),
      suppression('+6421'),
      suppression('a@b.example', { channel: 'email' }),
    );
    expect((await listed(filter)).map(written)).toEqual(expected);
  });

  test('a list comes in pages, has each suppression once, and ends at its limit', async () => {
    const addresses = Array.from({ length: 1_250 }, (_, index) => `+64${21_000_000 + index}`);
    await add(
      ...addresses.flatMap((address) => [suppression(address), suppression(address, { subAccount: 'A' })]),
    );
    const pages = await listedPages();
    expect(pages.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
    expect(pages.flat().map(({ address }) => address)).toEqual(addresses.flatMap((one) => [one, one]));
    expect((await listed({}, 1_500)).map(written)).toEqual(pages.flat().slice(0, 1_500).map(written));
    expect(await listed({}, 0)).toEqual([]);
  });
});

describe('importing suppressions', () => {
  const list = { channels: ['sms', 'voice'], reason: 'old list', source: 'import', createdAt } as const;
  const listedAddress = (address: string, subAccount = ''): ListedAddress => ({ address, subAccount });

  test('an import suppresses every address in every channel once, and leaves existing suppressions', async () => {
    await add(suppression('+6421', { reason: 'earlier' }));
    const batches = async function* () {
      yield [listedAddress('+6421'), listedAddress('+6422')];
      yield [];
      yield [listedAddress('+6422'), listedAddress('+6422', 'ACME')];
    };
    expect(await importSuppressions(opened.ledger.pool, batches(), list)).toBe(5);
    expect((await listed()).map((one) => `${written(one)}: ${one.reason}`)).toEqual([
      'sms +6421: earlier',
      'sms +6422: old list',
      'sms +6422 ACME: old list',
      'voice +6421: old list',
      'voice +6422: old list',
      'voice +6422 ACME: old list',
    ]);
  });

  test('an interrupted import leaves nothing behind, and the ledger works', async () => {
    const batches = async function* () {
      yield [listedAddress('+6421')];
      throw new Error('the file broke off');
    };
    await expect(importSuppressions(opened.ledger.pool, batches(), list)).rejects.toThrow(
      'the file broke off',
    );
    expect(await listed()).toEqual([]);
    expect(await add(suppression('+6421'))).toBe(1);
  });

  test('two imports of the same addresses in different order both succeed at once', async () => {
    const addresses = Array.from({ length: 4_000 }, (_, index) => listedAddress(`+64${21_000_000 + index}`));
    const batchesOf = async function* (all: readonly ListedAddress[]) {
      for (let start = 0; start < all.length; start += 500) yield all.slice(start, start + 500);
    };
    const added = await Promise.all(
      [addresses, addresses.toReversed()].map((all) =>
        importSuppressions(opened.ledger.pool, batchesOf(all), list),
      ),
    );
    expect(added[0] !== undefined && added[1] !== undefined && added[0] + added[1]).toBe(8_000);
    expect(await listed()).toHaveLength(8_000);
  });
});
