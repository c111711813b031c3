import { describe, expect, test } from 'vitest';
import { checkUnsentReports } from '../../../src/engine/doctor/delivery-reports.ts';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { streamCampaignRuns } from '../../../src/ledger/billing/run-costs.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { cancelRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { campaignSheet } from '../../../src/report/billing/campaign-sheet.ts';
import { billingOf } from '../../support/billing.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { expectCountsKept } from '../../support/expect-counts.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { aDelivery, applyReadings, receiveReadings } from '../../support/readings.ts';
import { inOrder, written } from '../../support/sheets.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const owner = '00000000-0000-4000-8000-000000000001';

/** A run with requests of one recipient each. */
async function planRun(campaign: string, requests = 10): Promise<string> {
  const contacts = Array.from({ length: requests }, (_, index) => aContact(index + 2));
  return planContacts(opened.ledger, aRun({ campaign, chunkSize: 1 }), contacts);
}

/** Five of its requests were accepted before it was cancelled. */
async function cancelledRun(campaign: string, requests?: number): Promise<string> {
  const { ledger } = opened;
  const run = await planRun(campaign, requests);
  const now = new Date();
  const { claimed } = await claimRequests(ledger.pool, { run, owner, limit: 5, now });
  const ended = { attempt: 1, finishedAt: now, httpStatus: 200, detail: null, state: 'accepted' } as const;
  await settleRequests(
    ledger.pool,
    run,
    owner,
    claimed.map(({ request }) => ({ request, ...ended })),
  );
  await cancel(run);
  return run;
}

async function cancel(run: string): Promise<void> {
  const { ledger } = opened;
  await cancelRun(await ledger.queue(), ledger.pool, run, { reason: 'enough', now: new Date() });
}

/** The service reports each recipient of the run as delivered, for 0.10 each. */
async function reportAll(run: string): Promise<void> {
  const { pool } = opened.ledger;
  const { rows } = await pool.query<{ messageId: string; address: string }>(
    'SELECT message_id AS "messageId", address FROM recipient_states WHERE run_id = $1',
    [run],
  );
  await receiveReadings(
    pool,
    rows.map((row) => aDelivery({ ...row, price: '0.10' })),
  );
  while ((await applyReadings(pool)) > 0);
}

test('delivery reports on requests that a cancelled run never sent are a figure of their own, and part of no share', async () => {
  const { pool } = opened.ledger;
  const run = await cancelledRun('unsent');
  await reportAll(run);
  const expected = {
    recipients: 5,
    accepted: 5,
    delivered: 5,
    reportedUnsent: 5,
    notYetReported: 0,
    price: '1.00',
  };
  expect((await billingOf(pool, [run])).total).toMatchObject(expected);
  while (await bookPending(pool));
  expect((await billingOf(pool, [run])).total).toMatchObject(expected);

  const query = { campaigns: ['unsent'], from: null, until: null, timeZone: 'UTC' };
  const runs = await inTransaction(pool, async (client) => {
    const batches = [];
    for await (const batch of streamCampaignRuns(client, query)) batches.push(...batch);
    return batches;
  });
  const sheet = campaignSheet(query, { asOf: { at: new Date(0) }, runs: inOrder([runs]), sums: [] });
  expect(JSON.parse((await written(sheet, 'json')).toString()).rows).toMatchObject([
    { run, accepted: 5, delivered: 5, deliveredShare: '100.0' },
  ]);
  expect(await checkUnsentReports(pool, new Date())).toMatchObject({
    state: 'warning',
    found: expect.stringContaining('5 recipients of requests that were never sent'),
  });
});

/** What the summary and all pages of the run have. */
async function countsOf(run: string): Promise<unknown> {
  await expectCountsKept(opened.ledger.pool, run);
  const { recipients, reportedUnsent } = (await summariseRun(opened.ledger.pool, run)) ?? {};
  const { pending, accepted, delivered, undelivered, cancelled } = recipients ?? {};
  return { pending, accepted, delivered, undelivered, cancelled, reportedUnsent };
}

describe('recipients of requests that were never sent stay in their state, in the summary and on the page of the run', () => {
  const none = { pending: 0, accepted: 0, delivered: 0, undelivered: 0, cancelled: 0 };

  test.each([
    { when: 'in a slice that was claimed in part', requests: 10 },
    { when: 'in slices that were never claimed', requests: 250 },
  ])('$when, before and after the reports are booked', async ({ when, requests }) => {
    const run = await cancelledRun(when, requests);
    expect(await countsOf(run)).toEqual({ ...none, accepted: 5, cancelled: requests - 5 });
    await reportAll(run);
    const expected = {
      ...none,
      delivered: 5,
      cancelled: requests - 5,
      reportedUnsent: requests - 5,
    };
    expect(await countsOf(run)).toEqual(expected);
    while (await bookPending(opened.ledger.pool));
    expect(await countsOf(run)).toEqual(expected);
  });

  test('in a run that was cancelled before its first request', async () => {
    const run = await planRun('none sent');
    await cancel(run);
    await reportAll(run);
    expect(await countsOf(run)).toEqual({ ...none, cancelled: 10, reportedUnsent: 10 });
  });

  test('in a run that waits, and then is cancelled', async () => {
    const run = await planRun('waits');
    await reportAll(run);
    expect(await countsOf(run)).toEqual({ ...none, pending: 10, reportedUnsent: 10 });
    await cancel(run);
    expect(await countsOf(run)).toEqual({ ...none, cancelled: 10, reportedUnsent: 10 });
  });
});
