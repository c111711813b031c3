import { describe, expect, test } from 'vitest';
import type { Destination, SendRequest } from '../../src/domain/message.ts';
import { type KeptMessage, keepNewest } from '../../src/sandbox/messages.ts';
import { rest104Json } from '../../src/wire/rest-1.ts';
import { rest202Json } from '../../src/wire/rest-2.02.ts';
import { soapTts } from '../../src/wire/soap-tts.ts';
import { parseMembers } from '../../src/wire/xml.ts';
import { secret, smallestMessage } from '../support/messages.ts';
import { get, send, startTestSandbox } from './start-test-sandbox.ts';
import { webhookReceiver } from './webhook-receiver.ts';

const authorized = { Authorization: `Basic ${secret}` };

const numbers = (count: number): readonly Destination[] =>
  Array.from({ length: count }, (_, index) => ({ Recipient: `+6421${String(index).padStart(6, '0')}` }));

function sms(changes: Partial<SendRequest> = {}): SendRequest {
  const fields = { Message: 'Hi', SubAccount: 'North', Department: 'Ops', Reference: 'R 1' };
  return { ...smallestMessage('rest-2.02', 'sms'), fields, ...changes };
}

async function status(url: string, path: string, headers: Record<string, string> = authorized) {
  const answer = await get(`${url}/api/v2.04/get/status/${path}`, headers);
  return { status: answer.status, body: JSON.parse(answer.text) };
}

describe('the status look-up of the sandbox', () => {
  test('a message is pending until the delivery delay ends, and then completed', async () => {
    let now = new Date('2026-01-02T03:04:05Z');
    await using sandbox = await startTestSandbox({ deliveryDelay: 60_000, now: () => now });
    await send(sandbox, rest202Json, sms());
    const common = {
      Result: 'Success',
      MessageID: 'M1',
      JobNum: expect.stringMatching(/^[0-9A-F]{8}$/),
      Account: 'SANDBOX',
      SubAccount: 'North',
      Department: 'Ops',
      Reference: 'R 1',
      CreatedTimeLocal: '2026-01-02 03:04:05',
      CreatedTimeUTC: '2026-01-02 03:04:05',
      DelayedTimeLocal: null,
      DelayedTimeUTC: null,
      Timezone: 'UTC',
      Count: 1,
      TotalRecords: 1,
      RecordsPerPage: 100,
      PageCount: 1,
      Page: 1,
    };
    const customs = Array.from({ length: 9 }, (_, index) => [`Custom${index + 1}`, null]);
    const recipient = {
      Type: 'SMS',
      DestSeq: '00000001',
      Destination: '+64211234567',
      ContactID: null,
      RemoteID: null,
      Attention: null,
      Company: null,
      ...Object.fromEntries(customs),
    };
    expect(await status(sandbox.url, 'M1')).toEqual({
      status: 200,
      body: {
        ...common,
        Status: 'Pending',
        Complete: 0,
        Success: 0,
        Failed: 0,
        Price: '0.000',
        Recipients: [
          {
            ...recipient,
            Status: 'Pending',
            Result: '',
            SentTimeLocal: null,
            SentTimeUTC: null,
            Price: '0.000',
          },
        ],
      },
    });

    now = new Date('2026-01-02T03:05:05Z');
    expect(await status(sandbox.url, 'M1')).toEqual({
      status: 200,
      body: {
        ...common,
        Status: 'Completed',
        Complete: 1,
        Success: 1,
        Failed: 0,
        Price: '0.080',
        Recipients: [
          {
            ...recipient,
            Status: 'Success',
            Result: 'delivered',
            SentTimeLocal: '2026-01-02 03:05:05',
            SentTimeUTC: '2026-01-02 03:05:05',
            Price: '0.080',
          },
        ],
      },
    });
  });

  test('the status of each recipient equals its delivery report, and the totals are their sum', async () => {
    await using hook = await webhookReceiver();
    const webhook = { url: hook.url };
    await using sandbox = await startTestSandbox({ webhook, undeliveredRate: 0.3, now: () => new Date(0) });
    await send(sandbox, rest202Json, sms({ destinations: numbers(200) }));
    await expect.poll(sandbox.outstandingDeliveryReports).toBe(0);
    const reported = hook.reports.map(({ destination, status, result, price, jobNumber }) => [
      destination,
      status,
      result,
      price,
      jobNumber,
    ]);
    const { body } = await status(sandbox.url, 'M1?recordsPerPage=1000');
    const found: readonly Record<string, string>[] = body.Recipients;
    const shown = found.map(({ Destination, Status, Result, Price }) => [
      Destination,
      Status,
      Result,
      Price,
      body.JobNum,
    ]);
    expect(shown).toEqual(reported.toSorted());
    const succeeded = reported.filter(([, word]) => word === 'Success').length;
    const price = reported.reduce((sum, [, , , each]) => sum + Number(each), 0);
    expect(body).toMatchObject({
      Complete: 200,
      Success: succeeded,
      Failed: 200 - succeeded,
      Price: price.toFixed(3),
    });
    expect(succeeded).toBeLessThan(200);
  });

  test('the status is in XML if Accept names it', async () => {
    await using sandbox = await startTestSandbox({ now: () => new Date(0) });
    await send(sandbox, rest202Json, sms({ destinations: numbers(2) }));
    const headers = { ...authorized, Accept: 'application/xml' };
    const answer = await get(`${sandbox.url}/api/v2.02/get/status/M1`, headers);
    expect(answer).toMatchObject({ status: 200, type: 'application/xml; charset=utf-8' });
    expect(parseMembers(Buffer.from(answer.text))).toMatchObject({
      Result: 'Success',
      MessageID: 'M1',
      Status: 'Completed',
      Timezone: 'UTC',
      Count: '2',
      Recipients: {
        Recipient: [
          { DestSeq: '00000001', Destination: '+6421000000', Status: 'Success' },
          { DestSeq: '00000002', Destination: '+6421000001', Status: 'Success' },
        ],
      },
    });
  });

  test('the status has pages of recipients', async () => {
    await using sandbox = await startTestSandbox();
    await send(sandbox, rest202Json, sms({ destinations: numbers(250) }));
    const page = async (query: string) => {
      const { body } = await status(sandbox.url, `M1${query}`);
      const sequences = body.Recipients.map(({ DestSeq }: { DestSeq: string }) => Number(DestSeq));
      return [
        [sequences.at(0), sequences.at(-1), sequences.length],
        [body.Page, body.PageCount, body.RecordsPerPage, body.TotalRecords, body.Complete],
      ];
    };
    expect(await page('')).toEqual([
      [1, 100, 100],
      [1, 3, 100, 250, 250],
    ]);
    expect(await page('?recordsPerPage=100&page=3')).toEqual([
      [201, 250, 50],
      [3, 3, 100, 250, 250],
    ]);
    expect(await page('?page=4')).toEqual([
      [undefined, undefined, 0],
      [4, 3, 100, 250, 250],
    ]);
    expect(await page('?recordsPerPage=0&page=0')).toEqual([
      [1, 1, 1],
      [1, 250, 1, 250, 250],
    ]);
    expect(await page('?recordsPerPage=1000000&page=-1')).toEqual([
      [1, 250, 250],
      [1, 1, 1000, 250, 250],
    ]);
  });

  test.each([
    ['rest-1.04', rest104Json, 'voice'],
    ['soap-tts', soapTts, 'tts'],
  ] as const)('a message that was sent by %s can be looked up too', async (name, wire, channel) => {
    await using sandbox = await startTestSandbox();
    await send(sandbox, wire, smallestMessage(name, channel));
    expect(await status(sandbox.url, 'M1')).toMatchObject({
      status: 200,
      body: { Status: 'Completed', Recipients: [{ Type: 'Voice', Destination: '+64211234567' }] },
    });
  });

  test('the newest of several requests with one MessageID is answered', async () => {
    await using sandbox = await startTestSandbox();
    await send(sandbox, rest202Json, sms());
    await send(sandbox, rest202Json, sms({ destinations: numbers(2) }));
    expect(await status(sandbox.url, 'M1')).toMatchObject({ body: { Count: 2 } });
  });

  test('a request that was not accepted, and an unknown MessageID, are answered 404', async () => {
    await using sandbox = await startTestSandbox({ failRate: 1 });
    expect((await send(sandbox, rest202Json, sms())).status).toBe(500);
    for (const id of ['M1', 'never', '%00', '%E2%82%AC%22']) {
      expect(await status(sandbox.url, id)).toEqual({
        status: 404,
        body: {
          Result: 'RecordNotFound',
          MessageID: decodeURIComponent(id),
          ErrorMessage: [expect.stringContaining('not processed yet')],
        },
      });
    }
    const answer = await get(`${sandbox.url}/api/v2.03/get/status/%01`, {
      ...authorized,
      Accept: 'text/xml',
    });
    expect(answer).toMatchObject({
      status: 404,
      text: expect.stringContaining('<root><Result>RecordNotFound</Result><MessageID>?</MessageID>'),
    });
  });

  test('a missing token, and a token other than the configured one, are answered 401', async () => {
    await using sandbox = await startTestSandbox({ token: secret });
    await send(sandbox, rest202Json, sms());
    const unauthorized = {
      status: 401,
      body: { Result: 'Unauthorized', ErrorMessage: [expect.any(String)] },
    };
    expect(await status(sandbox.url, 'M1', {})).toEqual(unauthorized);
    expect(await status(sandbox.url, 'M1', { Authorization: 'Basic wrong' })).toEqual(unauthorized);
    expect(await status(sandbox.url, 'never', { Authorization: `Bearer ${secret}` })).toEqual(unauthorized);
    expect(await status(sandbox.url, 'M1')).toMatchObject({ status: 200 });
  });

  test('a look-up is not in the journal', async () => {
    await using sandbox = await startTestSandbox();
    await send(sandbox, rest202Json, sms());
    await status(sandbox.url, 'M1');
    await status(sandbox.url, 'never');
    expect(await sandbox.journal()).toHaveLength(1);
  });
});

describe('kept messages', () => {
  const kept = (messageId: string, recipients: number, text = 'x'): [string, KeptMessage] => [
    messageId,
    {
      ...({ interface: 'rest-2.02', version: 'v2.02', channel: 'sms', messageId, jobNumber: 'J' } as const),
      labels: {},
      zone: { written: 'UTC', region: 'UTC' },
      content: { kind: 'sms', text, characterConversion: false },
      destinations: numbers(recipients),
      callback: undefined,
      ...{ simulated: false, delayed: false, aborted: false, resubmitted: 0 },
      acceptedAt: new Date(0),
      sendAt: new Date(0),
      cancelReports: () => {},
    },
  ];

  test('the oldest messages are dropped when there are too many recipients, whether they were looked up or not', () => {
    const messages = keepNewest(100);
    for (const id of ['A', 'B', 'C']) messages.set(...kept(id, 40));
    expect(messages.peek('A')).toBeUndefined();
    expect(messages.peek('B')).toBeDefined();
    messages.set(...kept('D', 40));
    expect([messages.peek('B'), messages.peek('C'), messages.peek('D')]).toEqual([
      undefined,
      expect.anything(),
      expect.anything(),
    ]);
  });

  test('fewer messages are kept if their texts are long', () => {
    const messages = keepNewest(100);
    messages.set(...kept('A', 1));
    messages.set(...kept('B', 1, 'x'.repeat(49_000)));
    expect(messages.peek('A')).toBeUndefined();
  });

  test('a single message that is too large is not kept, and neither are those before it', () => {
    const messages = keepNewest(100);
    messages.set(...kept('A', 1));
    messages.set(...kept('A', 1000));
    expect(messages.peek('A')).toBeUndefined();
    messages.set(...kept('B', 1));
    expect(messages.peek('B')).toBeDefined();
  });
});
