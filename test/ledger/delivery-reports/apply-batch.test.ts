import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyDeliveryReports } from '../../../src/ledger/delivery-reports/apply-batch.ts';
import { receiveDeliveryReports } from '../../../src/ledger/delivery-reports/receive.ts';
import type {
  Delivery,
  RawReport,
  ReportContent,
} from '../../../src/ledger/delivery-reports/report-content.ts';
import { summariseRun } from '../../../src/ledger/runs/summary.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { billingOf } from '../../support/billing.ts';
import { claimRequests, markUnrecordedInDoubt, settleRequests } from '../../support/claims.ts';
import {
  aContact,
  anEnvelope,
  aRun,
  openTestLedger,
  planContacts,
  type TestLedger,
} from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

const owner = '00000000-0000-4000-8000-000000000001';

/** A run with one request, in state `sending`, to two recipients. */
/** @param meanwhile runs after planning and before the claim */
async function sendingRun(
  fields: Record<string, string> = {},
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<{ run: string; messageId: string }> {
  const envelope = anEnvelope({ Message: 'Hello', ...fields });
  const run = await planContacts(opened.ledger, aRun(), [
    aContact(2, { envelope }),
    aContact(3, { envelope }),
  ]);
  await meanwhile();
  const {
    claimed: [request],
  } = await claimRequests(opened.ledger.pool, { run, owner, limit: 1, now: new Date() });
  return { run, messageId: request?.messageId ?? '' };
}

async function accept(run: string): Promise<void> {
  const settlement = { request: 1, attempt: 1, finishedAt: new Date(), httpStatus: 200, detail: null };
  await settleRequests(opened.ledger.pool, run, owner, [{ ...settlement, state: 'accepted' }]);
}

const read = ({ body }: RawReport): ReportContent => ({ kind: 'delivery', ...JSON.parse(body.toString()) });

const call = { account: 'sandbox', method: 'POST', contentType: 'test', headers: {} } as const;

function receive(...deliveries: Delivery[]): Promise<void> {
  const bodies = deliveries.map((delivery) => Buffer.from(JSON.stringify(delivery)));
  return receiveDeliveryReports(
    opened.ledger.pool,
    randomUUID(),
    bodies.map((body) => ({ ...call, receivedAt: new Date(), body })),
  );
}

/** Receives and applies reports; returns their states. */
async function apply(...deliveries: Delivery[]): Promise<string[]> {
  const { pool } = opened.ledger;
  await receive(...deliveries);
  await applyDeliveryReports(pool, { limit: 100, parse: read, now: new Date() });
  const { rows } = await pool.query<{ state: string }>(
    'SELECT state FROM delivery_reports ORDER BY report_id DESC LIMIT $1',
    [deliveries.length],
  );
  return rows.map(({ state }) => state).reverse();
}

function delivered(messageId: string, changes: Partial<Delivery> = {}): Delivery {
  const address = '+61400000002';
  return {
    messageId,
    jobNumber: null,
    address,
    outcome: 'delivered',
    status: 'Success',
    result: 'delivered',
    sentAt: null,
    units: '1',
    price: '0.08',
    parseProblem: null,
    optedOut: false,
    ...changes,
  };
}

async function recipientsOf(run: string) {
  return (await summariseRun(opened.ledger.pool, run))?.recipients;
}

test('a delivery report makes its recipient delivered, and no other recipient', async () => {
  const { run, messageId } = await sendingRun();
  await accept(run);
  expect(await apply(delivered(messageId))).toEqual(['applied']);
  expect(await recipientsOf(run)).toMatchObject({ total: 2, accepted: 1, delivered: 1 });
});

test('a second identical delivery report changes nothing', async () => {
  const { run, messageId } = await sendingRun();
  await accept(run);
  await apply(delivered(messageId));
  const before = await billingOf(opened.ledger.pool, [run]);
  expect(await apply(delivered(messageId))).toEqual(['unchanged']);
  expect(await billingOf(opened.ledger.pool, [run])).toEqual(before);
});

test('two identical delivery reports in one batch count once', async () => {
  const { run, messageId } = await sendingRun();
  await accept(run);
  expect(await apply(delivered(messageId), delivered(messageId))).toEqual(['applied', 'unchanged']);
  expect((await billingOf(opened.ledger.pool, [run])).total).toMatchObject({
    delivered: 1,
    price: '0.08',
  });
});

test('a different final outcome is stored as conflicting and does not overwrite the first', async () => {
  const { run, messageId } = await sendingRun();
  await accept(run);
  const undelivered = delivered(messageId, { outcome: 'undelivered', result: 'Bad Number' });
  expect(await apply(delivered(messageId), undelivered)).toEqual(['applied', 'conflicting']);
  expect(await apply(undelivered)).toEqual(['conflicting']);
  expect(await recipientsOf(run)).toMatchObject({ delivered: 1, undelivered: 0 });
});

test('a delivery report with status pending decides nothing', async () => {
  const { run, messageId } = await sendingRun();
  await accept(run);
  expect(await apply(delivered(messageId, { outcome: 'pending' }))).toEqual(['unchanged']);
  expect(await apply(delivered(messageId))).toEqual(['applied']);
  expect(await recipientsOf(run)).toMatchObject({ accepted: 1, delivered: 1 });
});

test('a delivery report with an unknown MessageID or address is stored as unmatched', async () => {
  const { run, messageId } = await sendingRun();
  expect(await apply(delivered('unknown'), delivered(messageId, { address: '+61499999999' }))).toEqual([
    'unmatched',
    'unmatched',
  ]);
  expect(await recipientsOf(run)).toMatchObject({ delivered: 0 });
});

test('an address matches without its plus sign and in another case', async () => {
  const { run, messageId } = await sendingRun();
  expect(await apply(delivered(messageId, { address: '61400000002' }))).toEqual(['applied']);
  expect(await recipientsOf(run)).toMatchObject({ delivered: 1 });
});

test('a delivery report that arrives before the 200 is recorded is applied', async () => {
  const { run, messageId } = await sendingRun();
  expect(await apply(delivered(messageId))).toEqual(['applied']);
  await accept(run);
  expect(await recipientsOf(run)).toMatchObject({ accepted: 1, delivered: 1, pending: 0 });
});

test('a delivery report for a recipient that was suppressed in its request is unmatched and proves nothing', async () => {
  const suppressed = { channel: 'sms', address: '+61400000002', subAccount: 'TAS' } as const;
  const { run, messageId } = await sendingRun({ SubAccount: 'TAS' }, () =>
    addSuppressions(opened.ledger.pool, [
      { ...suppressed, reason: '', source: 'operator', createdAt: new Date() },
    ]),
  );
  await markUnrecordedInDoubt(opened.ledger.pool, run, new Date());
  expect(await apply(delivered(messageId))).toEqual(['unmatched']);
  const summary = await summariseRun(opened.ledger.pool, run);
  expect(summary?.requests).toMatchObject({ accepted: 0, in_doubt: 1 });
  expect(summary?.recipients).toMatchObject({ delivered: 0, unknown: 1, cancelled: 1 });
  expect(await apply(delivered(messageId, { address: '+61400000003' }))).toEqual(['applied']);
  expect(await recipientsOf(run)).toMatchObject({ delivered: 1, unknown: 0, cancelled: 1 });
});

test('a delivery report for a request in doubt proves that the service accepted it', async () => {
  const { run, messageId } = await sendingRun();
  await markUnrecordedInDoubt(opened.ledger.pool, run, new Date());
  expect(await recipientsOf(run)).toMatchObject({ unknown: 2 });
  await apply(delivered(messageId));
  const summary = await summariseRun(opened.ledger.pool, run);
  expect(summary?.requests).toMatchObject({ accepted: 1, in_doubt: 0 });
  expect(summary?.recipients).toMatchObject({ accepted: 1, delivered: 1, unknown: 0 });
});

describe('a delivery report during sending', () => {
  const stateOf = async (run: string): Promise<unknown> => {
    const { rows } = await opened.ledger.pool.query(
      'SELECT state, reason FROM request_states WHERE run_id = $1',
      [run],
    );
    return rows[0];
  };
  const proved = { state: 'accepted', reason: { kind: 'reported' } };
  const outcome = { request: 1, attempt: 1, finishedAt: new Date(), httpStatus: null, detail: 'no answer' };

  test.each(['delivered', 'pending'] as const)(
    'a delivery report with outcome %s proves a request whose answer is lost',
    async (word) => {
      const { run, messageId } = await sendingRun();
      await apply(delivered(messageId, { outcome: word }));
      expect(await stateOf(run)).toEqual({ state: 'sending', reason: null });
      await settleRequests(opened.ledger.pool, run, owner, [{ ...outcome, state: 'in_doubt' }]);
      expect(await stateOf(run)).toEqual(proved);
    },
  );

  test('a delivery report proves a request that its worker releases for a later attempt', async () => {
    const { run, messageId } = await sendingRun();
    await apply(delivered(messageId));
    const released = { ...outcome, state: 'planned', verdict: 'released', httpStatus: 503 } as const;
    await settleRequests(opened.ledger.pool, run, owner, [released]);
    expect(await stateOf(run)).toEqual(proved);
  });

  test('a delivery report proves a request whose worker ends', async () => {
    const { run, messageId } = await sendingRun();
    await apply(delivered(messageId));
    await markUnrecordedInDoubt(opened.ledger.pool, run, new Date());
    expect(await stateOf(run)).toEqual(proved);
  });

  test('a delivery report leaves a later answer to be recorded as usual', async () => {
    const { run, messageId } = await sendingRun();
    await apply(delivered(messageId));
    await accept(run);
    expect(await stateOf(run)).toEqual({ state: 'accepted', reason: null });
  });

  test('a delivery report proves its request, whether it or the loss of the answer is committed first', async () => {
    for (let round = 0; round < 20; round++) {
      const { run, messageId } = await sendingRun();
      await Promise.all([
        apply(delivered(messageId)),
        settleRequests(opened.ledger.pool, run, owner, [{ ...outcome, state: 'in_doubt' }]),
      ]);
      expect(await stateOf(run)).toEqual(proved);
    }
  });
});

test('a delivery report settles a request that waits for a resend as accepted, and it is not sent again', async () => {
  const { run, messageId } = await sendingRun();
  await markUnrecordedInDoubt(opened.ledger.pool, run, new Date());
  await opened.ledger.pool.query(`UPDATE requests SET state = 'planned', resends = 1 WHERE run_id = $1`, [
    run,
  ]);
  await apply(delivered(messageId));
  expect((await summariseRun(opened.ledger.pool, run))?.requests).toMatchObject({ accepted: 1, planned: 0 });
});

test('several appliers at once apply every delivery report once', async () => {
  const { run, messageId } = await sendingRun();
  await accept(run);
  const { pool } = opened.ledger;
  for (let count = 0; count < 40; count++) {
    await receive(delivered(messageId, { address: count % 2 ? '+61400000002' : '+61400000003' }));
  }
  await Promise.all(
    Array.from({ length: 8 }, () => applyDeliveryReports(pool, { limit: 5, parse: read, now: new Date() })),
  );
  expect((await billingOf(pool, [run])).total).toMatchObject({ delivered: 2, price: '0.16' });
});

test('an unreadable delivery report stays in the inbox with the reason', async () => {
  const { pool } = opened.ledger;
  const body = Buffer.from([0, 255]);
  await receiveDeliveryReports(pool, randomUUID(), [{ ...call, receivedAt: new Date(), body }]);
  const why = 'the body is not a JSON object';
  await applyDeliveryReports(pool, {
    limit: 10,
    parse: () => ({ kind: 'unreadable', why }),
    now: new Date(),
  });
  const { rows } = await pool.query(
    'SELECT state, detail, body FROM delivery_reports JOIN inbox USING (report_id) ORDER BY report_id DESC LIMIT 1',
  );
  expect(rows).toEqual([{ state: 'unreadable', detail: why, body }]);
});

test('the billing report groups by SubAccount and ChargeCode, and its total is the sum of its lines', async () => {
  const first = await sendingRun({ SubAccount: 'North', ChargeCode: 'A' });
  const second = await sendingRun({ SubAccount: 'North', ChargeCode: 'A' });
  const third = await sendingRun();
  await accept(first.run);
  await apply(
    delivered(first.messageId, { price: '0.1' }),
    delivered(first.messageId, { address: '+61400000003', price: '0.2', units: '3' }),
  );
  await markUnrecordedInDoubt(opened.ledger.pool, third.run, new Date());

  const runs = [first.run, second.run, third.run];
  const { lines, total } = await billingOf(opened.ledger.pool, runs, ['SubAccount', 'ChargeCode']);
  expect(lines).toMatchObject([
    {
      values: ['North', 'A'],
      requests: 2,
      recipients: 4,
      accepted: 2,
      delivered: 2,
      undelivered: 0,
      unknown: 2,
      smsParts: '4',
      price: '0.3',
    },
    {
      values: [null, null],
      requests: 1,
      recipients: 2,
      accepted: 0,
      delivered: 0,
      undelivered: 0,
      unknown: 2,
      smsParts: '0',
      price: '0',
    },
  ]);
  expect(total).toMatchObject({
    requests: 3,
    recipients: 6,
    accepted: 2,
    delivered: 2,
    undelivered: 0,
    unknown: 4,
    smsParts: '4',
    price: '0.3',
  });
});

test('the billing report of no runs is empty', async () => {
  expect(await billingOf(opened.ledger.pool, [])).toEqual({ lines: [], total: undefined });
});
