import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { InputError } from '../../src/domain/problems.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { type Receiver, type ReceiverOptions, startReceiver } from '../../src/server/receiver.ts';
import { openTestLedger } from '../support/ledger.ts';
import { emptyInbox, inboxOf, receiverOptions, token } from '../support/receiver.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
let receiver: Receiver;
let options: ReceiverOptions;

beforeAll(async () => {
  options = receiverOptions(opened);
  receiver = await startReceiver(opened.context, options);
});
afterAll(async () => {
  await receiver.close();
});
beforeEach(() => emptyInbox(opened));

function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(receiver.url + path, { method: 'POST', body, headers });
}

const inbox = () => inboxOf(opened);

test('a delivery report is answered 200 after its raw bytes are committed', async () => {
  const body = new Uint8Array([0, 1, 2, 255, 254, 10, 13]);
  const answer = await post(`/webhook/main/${token}`, body, { 'Content-Type': 'application/json' });
  expect(answer.status).toBe(200);
  expect(await inbox()).toMatchObject([
    { account: 'main', content_type: 'application/json', body: Buffer.from(body) },
  ]);
});

test('credentials in the headers of a delivery report are not stored', async () => {
  await post(`/webhook/main/${token}`, '{}', {
    Authorization: 'Basic c2VjcmV0',
    'X-Sender': 'a@example.com',
  });
  const [report] = await inbox();
  expect(report?.headers).toMatchObject({ 'x-sender': 'a@example.com' });
  expect(JSON.stringify(report?.headers)).not.toContain('c2VjcmV0');
});

test('a delivery report during a database outage is answered 503, never 2xx', async () => {
  const broken = await openTestLedger();
  const second = await startReceiver(broken.context, receiverOptions(broken));
  await broken.dropDatabase();
  const answer = await fetch(`${second.url}/webhook/main/${token}`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('30');
  await second.close();
  await broken.close();
});

test('a port that is in use is an input error with advice', async () => {
  const port = Number(new URL(receiver.url).port);
  const failure = startReceiver(opened.context, { ...options, port });
  await expect(failure).rejects.toThrow(InputError);
  await expect(failure).rejects.toThrow(new RegExp(`--port ${port}: Port ${port} is in use`));
});

test('delivery reports left in the inbox are applied when the receiver starts', async () => {
  const call = { account: 'main', method: 'POST', contentType: '', headers: {} } as const;
  const body = Buffer.from('senseless');
  await receiveDeliveryReports(opened.ledger.pool, randomUUID(), [{ ...call, receivedAt: new Date(), body }]);
  const second = await startReceiver(opened.context, options);
  await second.close();
  const { rows } = await opened.ledger.pool.query('SELECT state FROM delivery_reports');
  expect(rows).toEqual([{ state: 'unreadable' }]);
});
