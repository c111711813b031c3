import { beforeEach, expect, test } from 'vitest';
import { replayDeliveryReports } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { startReceiver } from '../../src/server/receiver.ts';
import { emptyLedger } from '../support/empty-ledger.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { inboxOf, receiverOptions, token } from '../support/receiver.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
});

const query = async (sql: string, values: readonly unknown[] = []) =>
  (await opened.ledger.pool.query(sql, [...values])).rows;

/** With these settings of the receiver, posts the body, if there is one, and waits until the inbox is read. */
async function receive(settings: string, body?: string): Promise<void> {
  const receiver = await startReceiver(opened.context, receiverOptions(opened, { main: settings }));
  if (body !== undefined) {
    const { status } = await fetch(`${receiver.url}/webhook/main/${token}`, { method: 'POST', body });
    expect(status).toBe(200);
  }
  const waiting = () => query('SELECT FROM inbox_waiting WHERE attempts = 0');
  await expect.poll(waiting, { timeout: 20_000 }).toEqual([]);
  await receiver.close();
}

/** A list of a good report of each recipient, with two bad ones between them. */
async function listOfReports(): Promise<string> {
  const run = await planContacts(opened.ledger, aRun({ account: 'main', chunkSize: 1 }), [
    aContact(2),
    aContact(3),
  ]);
  await createRequestRows(opened.ledger.pool, run);
  await query(`UPDATE requests SET state = 'in_doubt'`);
  const sent = await query('SELECT message_id FROM request_states ORDER BY request');
  const [first, second] = sent.map(({ message_id }, index) => ({
    Type: 'SMS',
    MessageID: message_id,
    Destination: `+6140000000${index + 2}`,
    Status: index === 0 ? 'Success' : 'Failed',
  }));
  return JSON.stringify({ Reports: [first, { ...first, Status: 'Odd' }, 7, second] });
}

const outcomes = async () =>
  (await query('SELECT outcome FROM recipient_outcomes ORDER BY request')).map(({ outcome }) => outcome);
const reportStates = async () =>
  (await query('SELECT state FROM delivery_reports ORDER BY report_id')).map(({ state }) => state);

test('each report of a call is applied once, in order, and a bad one holds up no other', async () => {
  const body = await listOfReports();
  await receive('{ reportsIn: [Reports] }', body);
  expect(await outcomes()).toEqual(['delivered', 'undelivered']);
  expect(await reportStates()).toEqual(['applied', 'unreadable', 'unreadable', 'applied']);
  await replayDeliveryReports(opened.context, { account: 'main', all: true });
  await receive('{ reportsIn: [Reports] }');
  expect(await outcomes()).toEqual(['delivered', 'undelivered']);
  expect(await reportStates()).toEqual(['applied', 'unreadable', 'unreadable', 'applied']);
});

test('a call that came before the account said where its reports stand is kept as it was, and read at a replay', async () => {
  const body = await listOfReports();
  await receive('', body);
  expect(await reportStates()).toEqual(['unreadable']);
  expect((await inboxOf(opened)).map(({ body: kept }) => kept.toString())).toEqual([body]);
  await replayDeliveryReports(opened.context, { account: 'main', all: false });
  await receive('{ reportsIn: [Reports] }');
  expect(await outcomes()).toEqual(['delivered', 'undelivered']);
  expect(await reportStates()).toEqual(['applied', 'unreadable', 'unreadable', 'applied']);
});
