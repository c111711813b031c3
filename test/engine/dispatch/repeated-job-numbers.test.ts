import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatReason } from '../../../src/domain/reasons.ts';
import type { Account } from '../../../src/gateway/account.ts';
import { applyDeliveryReports } from '../../../src/ledger/delivery-reports/apply-batch.ts';
import { receiveDeliveryReports } from '../../../src/ledger/delivery-reports/receive.ts';
import { requestReason } from '../../../src/ledger/reasons.ts';
import { billingOf } from '../../support/billing.ts';
import { accountAt, execute } from '../../support/execute.ts';
import type { FaultProxy } from '../../support/fault-proxy.ts';
import { answerInstead } from '../../support/faults.ts';
import { type FaultyRuns, openFaultyRuns } from '../../support/faulty-runs.ts';
import { credentialsFor } from '../../support/messages.ts';

let runs: FaultyRuns;
beforeAll(async () => {
  runs = await openFaultyRuns();
});
afterAll(() => runs.close());

const oneByOne = { dispatch: { concurrency: 1 } };

/** Answers with these job numbers, in order. */
function answerWith(...jobNumbers: readonly number[]): Promise<FaultProxy> {
  return runs.proxyWith(...jobNumbers.map((number) => answerInstead('200 OK', `Job ${number}`)));
}

function account({ url }: FaultProxy): Account {
  return accountAt(url, { interface: 'rest-1.04', credentials: credentialsFor('rest-1.04') });
}

async function statesOf(run: string): Promise<readonly [string, string][]> {
  const { rows } = await runs.context.ledger.pool.query<{ state: string; reason: unknown }>(
    'SELECT state, reason FROM request_states WHERE run_id = $1 ORDER BY request',
    [run],
  );
  return rows.map(({ state, reason }) => [state, formatReason(requestReason(reason) ?? '')]);
}

const repeated = (number: number): string =>
  `the service answered another request with the same job number ${number}, so the answer proves nothing`;

test('a job number that an earlier run has puts both requests in doubt, except one that a delivery report proves', async () => {
  const { pool } = runs.context.ledger;
  await using earlier = await answerWith(101, 102, 103);
  const first = await runs.plan(3, oneByOne);
  await execute(runs.context, first, account(earlier));
  await report(first, 2);
  expect((await billingOf(pool, [first])).total).toMatchObject({ accepted: 3, unknown: 0 });

  await using later = await answerWith(104, 102, 103);
  const second = await runs.plan(3, oneByOne);
  const { summary } = await execute(runs.context, second, account(later));

  expect(await statesOf(first)).toEqual([
    ['accepted', 'job number 101'],
    ['accepted', 'job number 102'],
    ['in_doubt', repeated(103)],
  ]);
  expect(await statesOf(second)).toEqual([
    ['accepted', 'job number 104'],
    ['in_doubt', repeated(102)],
    ['in_doubt', repeated(103)],
  ]);
  expect(summary.requests).toMatchObject({ total: 3, accepted: 1, in_doubt: 2 });
  expect((await billingOf(pool, [first])).total).toMatchObject({ accepted: 2, unknown: 1 });
});

/** Applies a report of the service on the only recipient of a request. */
async function report(run: string, request: number): Promise<void> {
  const { pool } = runs.context.ledger;
  const { rows } = await pool.query<{ message_id: string; address: string }>(
    'SELECT message_id, address FROM recipient_states WHERE run_id = $1 AND request = $2',
    [run, request],
  );
  const now = new Date();
  const call = {
    account: 'sandbox',
    method: 'POST',
    contentType: 'test',
    headers: {},
    body: Buffer.of(),
  } as const;
  await receiveDeliveryReports(pool, randomUUID(), [{ ...call, receivedAt: now }]);
  await applyDeliveryReports(pool, {
    limit: 1,
    parse: () => ({
      kind: 'delivery',
      messageId: rows[0]?.message_id ?? '',
      jobNumber: null,
      address: rows[0]?.address ?? '',
      outcome: 'delivered',
      status: 'Success',
      result: 'Delivered',
      sentAt: null,
      units: null,
      price: null,
      parseProblem: null,
      optedOut: false,
    }),
    now,
  });
}
