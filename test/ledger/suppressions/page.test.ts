import { beforeAll, expect, test } from 'vitest';
import type { Channel } from '../../../src/domain/message.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import {
  countSuppressions,
  endOf,
  type PagedSuppression,
  pageSuppressions,
  type SuppressionKind,
  type SuppressionPlace,
} from '../../../src/ledger/suppressions/list.ts';
import { testLedger } from '../../support/test-ledger.ts';

const common = { reason: 'left', source: 'operator', by: 'ann', createdAt: new Date() } as const;
const all: readonly (readonly [Channel, string, string, string])[] = [
  ['email', 'a@example.org', '', ''],
  ['email', 'b@example.org', 'main', ''],
  ['fax', '+6421', '', ''],
  ['fax', '+6421', '', 'North'],
  ['fax', '+6421', 'main', ''],
  ['sms', '+6420', 'other', ''],
  ['tts', '+6420', '', ''],
];

const opened = testLedger();
beforeAll(async () => {
  await addSuppressions(
    opened.ledger.pool,
    all.map(([channel, address, account, subAccount]) => ({
      ...common,
      channel,
      address,
      account,
      subAccount,
      source: account === 'other' ? ('import' as const) : common.source,
    })),
  );
});

async function pagesOf(kind: SuppressionKind, limit: number): Promise<unknown[][]> {
  const pages: PagedSuppression[] = [];
  for (let after: SuppressionPlace | undefined; ; ) {
    const page = await pageSuppressions(opened.ledger.pool, kind, { after, limit });
    pages.push(...page);
    if (page.length < limit) break;
    after = endOf(page, after);
  }
  return pages.map(({ channel, address, account, subAccount }) => [channel, address, account, subAccount]);
}

test('pages of any size list each suppression once, in order, across channels', async () => {
  for (const limit of [1, 2, 3, 7, 10]) expect(await pagesOf({ accounts: null }, limit)).toEqual(all);
});

test('pages and counts are of the kind that is asked for, and of the accounts that may be seen', async () => {
  const { pool } = opened.ledger;
  for (const [kind, expected] of [
    [{ channel: 'fax', accounts: null }, all.slice(2, 5)],
    [{ account: 'main', accounts: null }, [all[1], all[4]]],
    [{ account: '', accounts: [] }, all.filter(([, , account]) => account === '')],
    [{ source: 'import', accounts: null }, [all[5]]],
    [{ accounts: ['other'] }, all.filter(([, , account]) => account !== 'main')],
    [{ account: 'main', accounts: ['other'] }, []],
  ] as const) {
    expect(await pagesOf(kind, 2)).toEqual(expected);
    expect(await countSuppressions(pool, kind, 100)).toEqual({ known: expected.length, hashed: 0 });
  }
  expect((await countSuppressions(pool, { accounts: null }, 3)).known).toBe(3);
});

test('a suppression has who added it and why', async () => {
  const [first] = await pageSuppressions(
    opened.ledger.pool,
    { accounts: null },
    { after: undefined, limit: 1 },
  );
  expect(first).toMatchObject({ by: 'ann', reason: 'left' });
});
