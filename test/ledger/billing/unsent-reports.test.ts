import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkUnsentReports } from '../../../src/engine/doctor/delivery-reports.ts';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { streamCampaignRuns } from '../../../src/ledger/billing/campaign-runs.ts';
import { sumReported } from '../../../src/ledger/billing/reported-sums.ts';
import { applyDeliveryReports } from '../../../src/ledger/delivery-reports/apply-batch.ts';
import { receiveDeliveryReports } from '../../../src/ledger/delivery-reports/receive.ts';
import { cancelRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { billingOf } from '../../support/billing.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { aContact, aRun, openTestLedger, planContacts, type TestLedger } from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

const owner = '00000000-0000-4000-8000-000000000001';

/** A run with ten requests of one recipient each; five were accepted before it was cancelled. */
async function cancelledRun(campaign: string): Promise<string> {
  const { ledger } = opened;
  const contacts = Array.from({ length: 10 }, (_, index) => aContact(index + 2));
  const run = await planContacts(ledger, aRun({ campaign, chunkSize: 1 }), contacts);
  const now = new Date();
  const { claimed } = await claimRequests(ledger.pool, { run, owner, limit: 5, now });
  const ended = { attempt: 1, finishedAt: now, httpStatus: 200, detail: null, state: 'accepted' } as const;
  await settleRequests(
    ledger.pool,
    run,
    owner,
    claimed.map(({ request }) => ({ request, ...ended })),
  );
  await cancelRun(await ledger.queue(), ledger.pool, run, 'enough', now);
  return run;
}

/** The service reports each recipient of the run as delivered, for 0.10 each. */
async function reportAll(run: string): Promise<void> {
  const { pool } = opened.ledger;
  const { rows } = await pool.query<{ messageId: string; address: string }>(
    'SELECT message_id AS "messageId", address FROM recipient_states WHERE run_id = $1',
    [run],
  );
  const call = { account: 'sandbox', method: 'POST', contentType: 'test', headers: {} } as const;
  const bodies = rows.map((row) => Buffer.from(JSON.stringify(row)));
  const now = new Date();
  await receiveDeliveryReports(
    pool,
    randomUUID(),
    bodies.map((body) => ({ ...call, receivedAt: now, body })),
  );
  const read = ({ body }: { readonly body: Buffer }) => ({
    kind: 'delivery' as const,
    ...(JSON.parse(body.toString()) as { messageId: string; address: string }),
    jobNumber: null,
    outcome: 'delivered' as const,
    status: 'Success',
    result: 'Delivered',
    sentAt: null,
    units: null,
    price: '0.10',
    parseProblem: null,
    optedOut: false,
  });
  while ((await applyDeliveryReports(pool, 100, read, now)) > 0);
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
  expect(runs).toMatchObject([{ run, accepted: 5, delivered: 5, deliveredShare: '100.0' }]);
  expect(await sumReported(pool, run)).toEqual({ delivered: 10, undelivered: 0 });
  expect(await checkUnsentReports(pool, new Date())).toMatchObject({
    state: 'warning',
    found: expect.stringContaining('5 recipients of requests that were never sent'),
  });
});
