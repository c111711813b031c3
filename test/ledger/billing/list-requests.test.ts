import { Big } from 'big.js';
import { beforeAll, expect, test, vi } from 'vitest';
import {
  listBilledRequests,
  type RequestCursor,
  type RequestQuery,
} from '../../../src/ledger/billing/list-requests.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { performStep } from '../../support/billing-world.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { planReportableRun } from '../../support/reportable-run.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let runs: readonly string[];
beforeAll(async () => {
  const first = await planReportableRun(opened.context);
  const world = { ledger: opened.ledger, runs: [], now: new Date('2026-10-03T09:00:00Z') };
  const payers = [{ SubAccount: 'North', ChargeCode: 'A-1' }, {}];
  const plan = { kind: 'plan', channel: 'sms', contacts: 4, chunkSize: 1, rates: null, payers } as const;
  await performStep(world, plan);
  await performStep(world, { kind: 'send', run: 0, requests: 3, ends: ['accepted', 'rejected', 'accepted'] });
  runs = [first, ...world.runs];
});

const allTime = { from: null, until: null, timeZone: 'UTC', filter: {} };
const list = (query: Partial<RequestQuery> = {}, after?: RequestCursor, limit = 100) =>
  inTransaction(opened.ledger.pool, (client) =>
    listBilledRequests(client, { ...allTime, ...query }, { after, limit }),
  );

test('the requests of each payer, of all runs, add up to its line of the billing report', async () => {
  const by = ['SubAccount', 'ChargeCode'] as const;
  const { lines } = await inTransaction(opened.ledger.pool, (client) =>
    reportBilling(client, { ...allTime, by }),
  );
  // The first run has a rate card, and so a currency.
  const payerOf = ({ values }: { readonly values: readonly (string | null)[] }): string => values.join();
  const payers = [...new Set(lines.map(payerOf))];
  expect(payers).toEqual(['North,A-1', ',']);
  for (const payer of payers) {
    const of = lines.filter((line) => payerOf(line) === payer);
    const [SubAccount = null, ChargeCode = null] = of[0]?.values ?? [];
    const filter = { SubAccount: [SubAccount], ChargeCode: [ChargeCode] };
    const found = await list({ filter, kind: 'ordinary' });
    expect(found).toHaveLength(of.reduce((sum, { requests }) => sum + requests, 0));
    expect(new Set(found.map(({ run }) => run))).toEqual(new Set(runs));
    for (const figure of ['recipients', 'delivered', 'undelivered', 'price'] as const) {
      const add = (rows: readonly { readonly [Name in typeof figure]: number | string }[]): string =>
        rows.reduce((sum, row) => sum.plus(row[figure]), new Big(0)).toFixed();
      expect([figure, add(found)]).toEqual([figure, add(of)]);
    }
  }
});

test('the requests of any payer are all requests with an attempt, the newest run first, page by page', async () => {
  const all = await list();
  const [first, second] = runs;
  expect(all.map(({ run, request, state, attempts }) => [run, request, state, attempts])).toEqual([
    [second, 1, 'accepted', 1],
    [second, 2, 'rejected', 1],
    [second, 3, 'accepted', 1],
    [first, 1, 'accepted', 1],
    [first, 2, 'accepted', 1],
    [first, 3, 'rejected', 1],
    [first, 4, 'accepted', 2],
  ]);
  for (const size of [1, 3, 5]) {
    const pages = [];
    let page = await list({}, undefined, size);
    while (page.length > 0) {
      pages.push(...page);
      page = await list({}, page.at(-1), size);
    }
    expect(pages).toEqual(all);
  }
});

test('a list of requests is limited to a run, a kind, an account, and the period in which they were sent', async () => {
  const all = await list();
  const [run = ''] = runs;
  expect(await list({ filter: { run: [run] } })).toEqual(all.filter((each) => each.run === run));
  expect(await list({ kind: 'test' })).toEqual([]);
  expect(await list({ filter: { account: ['other'] } })).toEqual([]);
  expect(await list({ filter: { ChargeCode: ['B-2'] } })).toEqual([]);
  const october = all.filter((each) => each.run !== run);
  expect(await list({ from: '2026-10-01', until: '2026-11-01' })).toEqual(october);
  expect(await list({ until: '2026-10-03T09:00' })).toEqual(all.filter((each) => each.run === run));
});

test('slices of which nothing is sent are not read', async () => {
  const statements = (): Promise<number> =>
    inTransaction(opened.ledger.pool, async (client) => {
      const query = vi.spyOn(client, 'query');
      await listBilledRequests(client, allTime, { after: undefined, limit: 100 });
      const { length } = query.mock.calls;
      query.mockRestore();
      return length;
    });
  const before = await statements();
  const contacts = Array.from({ length: 300 }, (_, index) => aContact(index + 2));
  await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  expect(await statements()).toBe(before);
});
