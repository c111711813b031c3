import { Big } from 'big.js';
import { beforeAll, expect, test } from 'vitest';
import { listBilledRequests, type Payer } from '../../../src/ledger/billing/list-requests.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { planReportableRun } from '../../support/reportable-run.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;
beforeAll(async () => {
  run = await planReportableRun(opened.context);
});

const list = (payer: Payer, after = 0, limit = 100) =>
  inTransaction(opened.ledger.pool, (client) => listBilledRequests(client, run, payer, { after, limit }));

test('the requests of each payer add up to its line of the billing report', async () => {
  const query = { from: null, until: null, timeZone: 'UTC', filter: { run: [run] } };
  const by = ['SubAccount', 'ChargeCode'] as const;
  const { lines } = await inTransaction(opened.ledger.pool, (client) =>
    reportBilling(client, { ...query, by }),
  );
  expect(lines.map(({ values }) => values)).toEqual([
    ['North', 'A-1'],
    [null, null],
  ]);
  for (const { values, requests, recipients, delivered, undelivered, price } of lines) {
    const [SubAccount = null, ChargeCode = null] = values;
    const found = await list({ SubAccount, ChargeCode });
    const sum = (figure: (each: (typeof found)[number]) => number | string): Big =>
      found.reduce((total, each) => total.plus(figure(each)), new Big(0));
    expect(found).toHaveLength(requests);
    expect([sum((each) => each.recipients), sum((each) => each.delivered)].map(Number)).toEqual([
      recipients,
      delivered,
    ]);
    expect(sum((each) => each.undelivered).toNumber()).toBe(undelivered);
    expect(sum((each) => each.price).eq(price)).toBe(true);
  }
});

test('the requests of any payer are all requests with an attempt, page by page', async () => {
  const all = await list({});
  expect(all.map(({ request, state, attempts }) => [request, state, attempts])).toEqual([
    [1, 'accepted', 1],
    [2, 'accepted', 1],
    [3, 'rejected', 1],
    [4, 'accepted', 2],
  ]);
  expect(await list({}, 1, 2)).toEqual(all.slice(1, 3));
  expect(await list({}, 4)).toEqual([]);
});

test('a payer without requests has none', async () => {
  expect(await list({ ChargeCode: 'B-2' })).toEqual([]);
});
