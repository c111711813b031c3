import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { type AccountSharing, noSharing } from '../../src/domain/account-sharing.ts';
import { applyInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { startReceiver } from '../../src/server/receiver.ts';
import { claimRequests } from '../support/claims.ts';
import { emptyLedger } from '../support/empty-ledger.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { receiverOptions, token } from '../support/receiver.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
});

const query = async (sql: string, values: readonly unknown[] = []) =>
  (await opened.ledger.pool.query(sql, [...values])).rows;

const address = '+61400000002';

/** A run of account `main` whose only request is in doubt and has a job number. */
async function doubtfulRun(): Promise<string> {
  const run = await planContacts(opened.ledger, aRun({ account: 'main' }), [aContact(2)]);
  await createRequestRows(opened.ledger.pool, run);
  await query(`UPDATE requests SET state = 'in_doubt'`);
  await query(`INSERT INTO job_numbers VALUES ('12AB34CD', 'main', $1, 1, now())`, [run]);
  return run;
}

/** Posts delivery reports, and waits until they are applied. */
async function report(
  account: string,
  reports: readonly object[],
  sharing: AccountSharing = noSharing,
): Promise<void> {
  const options = receiverOptions(opened, { main: '', other: '' });
  const receiver = await startReceiver(opened.context, { ...options, sharing });
  for (const one of reports) {
    const body = JSON.stringify({ Type: 'SMS', Destination: address, Status: 'Success', ...one });
    const { status } = await fetch(`${receiver.url}/webhook/${account}/${token}`, { method: 'POST', body });
    expect(status).toBe(200);
  }
  const waiting = () => query('SELECT FROM inbox_waiting WHERE attempts = 0');
  await expect.poll(waiting, { timeout: 15_000 }).toEqual([]);
  await receiver.close();
}

async function everythingOf(): Promise<object[]> {
  const [request] = await query('SELECT message_id FROM request_states');
  const named = { MessageID: request?.message_id };
  return [
    { ...named, Price: '999.99' },
    { MessageID: 'nothing', JobNumber: '12AB34CD' },
    { ...named, Type: 'SMSReply', Message: 'Thanks' },
    { ...named, Type: 'SMSReply', Message: 'STOP' },
    { ...named, Status: 'Failed', Result: 'Destination is blacklisted' },
  ];
}

const requestStates = async () => (await query('SELECT state FROM request_states')).map(({ state }) => state);
const suppressions = () => query('SELECT account, address FROM suppressions ORDER BY address, account');

test('delivery reports, replies and opt-outs of one account do not change messages of another', async () => {
  const run = await doubtfulRun();
  await report('other', await everythingOf());
  expect(await requestStates()).toEqual(['in_doubt']);
  expect(await query('SELECT FROM recipient_outcomes')).toEqual([]);
  expect(await query('SELECT DISTINCT run_id FROM delivery_reports')).toEqual([{ run_id: null }]);
  expect(await suppressions()).toEqual([{ account: 'other', address }]);
  await query(`UPDATE requests SET state = 'planned'; UPDATE runs SET state = 'running'`);
  const owner = '00000000-0000-4000-8000-000000000001';
  const { claimed } = await claimRequests(opened.ledger.pool, { run, owner, limit: 1, now: new Date() });
  expect(claimed.map(({ destinations }) => destinations.count)).toEqual([1]);
});

test('delivery reports of the same account decide, and suppress addresses for that account alone', async () => {
  await doubtfulRun();
  await report('main', await everythingOf());
  expect(await requestStates()).toEqual(['accepted']);
  expect(await query('SELECT outcome, price FROM recipient_outcomes')).toEqual([
    { outcome: 'delivered', price: '999.99' },
  ]);
  expect(await suppressions()).toEqual([{ account: 'main', address }]);
  expect(await suppressedIn('main')).toBe(1);
  expect(await suppressedIn('other')).toBe(0);
});

test('accounts that share a webhook also share delivery reports and opt-outs', async () => {
  await doubtfulRun();
  const shared = [{ account: 'main', source: 'other' }];
  await report('other', await everythingOf(), { webhooks: shared, suppressions: shared });
  expect(await requestStates()).toEqual(['accepted']);
  expect(await suppressions()).toEqual([{ account: 'other', address }]);
  expect(await suppressedIn('main')).toBe(0);
  expect(await suppressedIn('main', 'other')).toBe(1);
  expect(await suppressedIn('other')).toBe(1);
});

test('an unmatched reply counts for the account that received it, and for accounts that share with it', async () => {
  const stop = { Type: 'SMSInbound', Message: 'STOP', Destination: address };
  await report('other', [stop], { webhooks: [], suppressions: [{ account: 'other', source: 'main' }] });
  expect(await suppressions()).toEqual([{ account: 'main', address }]);
});

test('one account does not decide about divided requests or look-ups of another', async () => {
  const two = [aContact(2), aContact(3)];
  const run = await planContacts(opened.ledger, aRun({ account: 'main', chunkSize: 1 }), two);
  await createRequestRows(opened.ledger.pool, run);
  await query(`UPDATE requests SET divided_from = CASE request WHEN 2 THEN 1 END, state = 'accepted'`);
  const [whole] = await query('SELECT message_id FROM request_states WHERE request = 1');
  const of = (account: string) => ({ account, contentType: '', headers: {}, receivedAt: new Date() });
  const said = { Type: 'SMS', MessageID: whole?.message_id, Destination: '+61400000003', Status: 'Success' };
  const body = Buffer.from(JSON.stringify(said));
  const receive = async (account: string): Promise<number> => {
    await receiveDeliveryReports(opened.ledger.pool, randomUUID(), [
      { ...of(account), method: 'LOOK-UP', body },
      { ...of(account), method: 'POST', body },
    ]);
    await applyInbox(opened.context);
    return (await query('SELECT FROM recipient_outcomes')).length;
  };
  expect(await receive('other')).toBe(0);
  expect(await receive('main')).toBe(1);
});

async function suppressedIn(account: string, suppressionAccount?: string): Promise<number> {
  const run = await planContacts(opened.ledger, aRun({ account, suppressionAccount }), [aContact(2)]);
  const [row] = await query('SELECT contacts_suppressed FROM runs WHERE run_id = $1', [run]);
  return row?.contacts_suppressed ?? 0;
}
