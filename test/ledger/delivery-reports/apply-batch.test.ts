import { describe, expect, test } from 'vitest';
import type { Delivery } from '../../../src/ledger/delivery-reports/report-content.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { billingOf } from '../../support/billing.ts';
import { claimRequests, markUnrecordedInDoubt, settleRequests } from '../../support/claims.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { aDelivery, applyReadings, receiveReadings } from '../../support/readings.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const owner = '00000000-0000-4000-8000-000000000001';

/**
 * A run with one request, in state `sending`, to two recipients.
 *
 * @param meanwhile runs after planning and before the claim
 */
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

/** Receives and applies reports; returns their states. */
async function apply(...deliveries: Partial<Delivery>[]): Promise<string[]> {
  const { pool } = opened.ledger;
  await receiveReadings(pool, deliveries.map(aDelivery));
  await applyReadings(pool);
  const { rows } = await pool.query<{ state: string }>(
    'SELECT state FROM delivery_reports ORDER BY report_id DESC LIMIT $1',
    [deliveries.length],
  );
  return rows.map(({ state }) => state).reverse();
}

function delivered(messageId: string, changes: Partial<Delivery> = {}): Partial<Delivery> {
  return { messageId, units: '1', price: '0.08', ...changes };
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

test('two identical delivery reports in one batch count once', async () => {
  const { run, messageId } = await sendingRun();
  await accept(run);
  expect(await apply(delivered(messageId), delivered(messageId))).toEqual(['applied', 'unchanged']);
  expect((await billingOf(opened.ledger.pool, [run])).total).toMatchObject({
    delivered: 1,
    price: '0.08',
  });
});

test('a delivery report with an unknown MessageID or address is stored as unmatched', async () => {
  const { run, messageId } = await sendingRun();
  expect(await apply(delivered('unknown'), delivered(messageId, { address: '+61499999999' }))).toEqual([
    'unmatched',
    'unmatched',
  ]);
  expect(await recipientsOf(run)).toMatchObject({ delivered: 0 });
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
