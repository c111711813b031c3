import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { openGateway } from '../../src/gateway/gateway.ts';
import { anAccount } from '../support/account.ts';
import { smallestMessage } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';
import { startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';
import { webhookReceiver } from './webhook-receiver.ts';

/** Versions 2.03 and 2.04, called as their published clients do (docs/reference/interfaces.md). */

const headers = {
  'Content-Type': 'application/json',
  Accept: 'application/json',
  encoding: 'utf-8',
  Authorization: 'Basic any',
};

/** Every call has a body, even a GET. */
async function call({ url }: TestSandbox, method: 'GET' | 'POST' | 'PATCH', path: string, body: object = {}) {
  const answer = await request(`${url}/api/${path}`, {
    method,
    headers,
    body: JSON.stringify({ ...body, HTTPMethod: method }),
  });
  return { status: answer.statusCode, body: await answer.body.json() };
}

const sms = (changes: object = {}) => ({
  MessageData: { MessageID: 'M1', Message: 'Hi', Destinations: [{ Recipient: '+64211234567' }], ...changes },
});

/** A published client's default values. */
const calls = {
  MessageID: 'M-1',
  CallerID: '',
  BillingAccount: '',
  RetryAttempts: 1,
  RetryPeriod: 1,
  MessageToPeople: 'Hello',
  MessageToAnswerphones: '',
  KeypadOptionRequired: false,
  NumberOfOperators: 0,
  Options: '',
  Destinations: [{ Recipient: '+6493001234' }],
  Keypads: [
    { Tone: 0, RouteNumber: '+6493001235' },
    { Tone: 1, Play: 'You pressed one' },
  ],
};

describe.each(['v2.03', 'v2.04'])('the sandbox in version %s', (version) => {
  test('an SMS, an email, a fax and calls are accepted, and reported with this version', async () => {
    await using hook = await webhookReceiver();
    await using sandbox = await startTestSandbox({ webhook: { url: hook.url } });
    const email = { EmailSubject: 'Hi', MessagePlain: 'Hi', Destinations: [{ Recipient: 'a@b.example' }] };
    const audio = { MessageToPeople: 'UklGRg==', Keypads: [{ Tone: 2, PlayFile: 'UklGRg==' }] };
    const messages: readonly (readonly [string, object])[] = [
      ['sms', sms()],
      ['email', { MessageData: { ...email, MessageID: 'M2' } }],
      ['fax', sms({ MessageID: 'M3', Resolution: 'High', RetryAttempts: 3, RetryPeriod: 1 })],
      ['tts', { MessageData: { ...calls, Voice: 'English-NewZealand@Female1' } }],
      ['voice', { MessageData: { ...calls, ...audio } }],
    ];
    for (const [channel, body] of messages) {
      expect(await call(sandbox, 'POST', `${version}/send/${channel}`, body)).toMatchObject({
        status: 200,
        body: { Result: 'Success', MessageID: expect.stringMatching(/^M/) },
      });
    }
    await expect.poll(() => hook.bodies.length).toBe(messages.length);
    const reports = hook.bodies.map((body) => JSON.parse(String(body)));
    expect(new Set(reports.map(({ Version }) => Version))).toEqual(new Set([version]));
    expect(reports.map(({ Type }) => Type).toSorted()).toEqual(['Email', 'Fax', 'SMS', 'Voice', 'Voice']);
  });
});

describe('a message that waits for its SendTime', () => {
  const waiting = sms({ SendTime: '2030-01-01T09:00', TimeZone: 'New Zealand' });

  test('a waiting message can be rescheduled, and aborted without charge', async () => {
    await using hook = await webhookReceiver();
    await using sandbox = await startTestSandbox({ webhook: { url: hook.url } });
    await call(sandbox, 'POST', 'v2.04/send/sms', waiting);
    const done = { Result: 'Success', MessageID: 'M1', JobNum: expect.any(String) };
    const later = { SendTime: '2031-01-01T09:00:00' };
    expect(await call(sandbox, 'PATCH', 'v2.04/set/Reschedule/M1', later)).toEqual({
      status: 200,
      body: { ...done, Status: 'Pending', Action: 'Reschedule' },
    });
    expect(await call(sandbox, 'GET', 'v2.04/get/status/M1/?recordsPerPage=100&page=1')).toMatchObject({
      body: { Status: 'Pending', DelayedTimeUTC: '2030-12-31 20:00:00' },
    });
    expect(await call(sandbox, 'PATCH', 'v2.04/set/abort/M1')).toEqual({
      status: 200,
      body: { ...done, Status: 'Completed', Action: 'Abort' },
    });
    await expect.poll(() => hook.bodies.length).toBe(1);
    expect(sandbox.outstandingDeliveryReports()).toBe(0);
    expect(JSON.parse(String(hook.bodies[0]))).toMatchObject({
      Status: 'Success',
      Result: 'Control Deleted',
      Price: '0.000',
    });
    expect(await call(sandbox, 'GET', 'v2.04/get/status/M1')).toMatchObject({
      body: { Status: 'Completed', Recipients: [{ Result: 'Control Deleted' }] },
    });
  });

  test('a waiting message cannot move into the past, and a finished or unknown one cannot be changed', async () => {
    await using sandbox = await startTestSandbox();
    await call(sandbox, 'POST', 'v2.04/send/sms', waiting);
    const refused = {
      status: 400,
      body: { Result: 'Failed', MessageID: 'M1', ErrorMessage: [expect.any(String)] },
    };
    for (const SendTime of ['2020-01-01T09:00', 'never', '']) {
      expect(await call(sandbox, 'PATCH', 'v2.04/set/reschedule/M1', { SendTime })).toEqual(refused);
    }
    expect(await call(sandbox, 'PATCH', 'v2.04/set/resubmit/M1')).toEqual(refused);
    expect(await call(sandbox, 'PATCH', 'v2.04/set/pacing/M1', { NumberOfOperators: 5 })).toEqual(refused);
    await call(sandbox, 'PATCH', 'v2.04/set/abort/M1');
    expect(await call(sandbox, 'PATCH', 'v2.04/set/abort/M1')).toEqual(refused);
    expect(await call(sandbox, 'PATCH', 'v2.04/set/abort/M2')).toMatchObject({
      status: 404,
      body: { Result: 'RecordNotFound', MessageID: 'M2' },
    });
    const answer = await fetch(`${sandbox.url}/api/v2.04/set/abort/M1`, { method: 'PATCH' });
    expect(answer.status).toBe(401);
  });

  test('a waiting call can be paced', async () => {
    await using sandbox = await startTestSandbox();
    await call(sandbox, 'POST', 'v2.04/send/tts', {
      MessageData: { ...calls, SendTime: '2030-01-01T09:00' },
    });
    const pacing = (NumberOfOperators: number) =>
      call(sandbox, 'PATCH', 'v2.04/set/pacing/M-1', { NumberOfOperators });
    expect(await pacing(5)).toMatchObject({ status: 200, body: { Action: 'Pacing', Status: 'Pending' } });
    expect(await pacing(0)).toMatchObject({ status: 400 });
    expect(await pacing(100_000)).toMatchObject({ status: 400 });
  });
});

test('a finished message is resubmitted only to the recipients that it did not reach', async () => {
  await using hook = await webhookReceiver();
  await using sandbox = await startTestSandbox({ webhook: { url: hook.url }, undeliveredRate: 0.5 });
  const Destinations = Array.from({ length: 20 }, (_, index) => ({ Recipient: `+64212345${10 + index}` }));
  await call(sandbox, 'POST', 'v2.04/send/sms', sms({ Destinations }));
  await expect.poll(() => hook.bodies.length).toBe(20);
  const { body: before } = await call(sandbox, 'GET', 'v2.04/get/status/M1');
  const failed = Object(before).Failed;
  expect(failed).toBeGreaterThan(3);
  expect(await call(sandbox, 'PATCH', 'v2.04/set/resubmit/M1', { SendTime: '' })).toMatchObject({
    body: { Result: 'Success', Action: 'Resubmit' },
  });
  await expect.poll(() => hook.bodies.length).toBe(20 + failed);
  const { body: after } = await call(sandbox, 'GET', 'v2.04/get/status/M1');
  expect(Object(after).Failed).toBeLessThan(failed);
  expect(Object(after)).toMatchObject({ Status: 'Completed', Count: 20, Complete: 20 });
});

test('a message that is resubmitted with a SendTime waits for it', async () => {
  await using sandbox = await startTestSandbox({ undeliveredRate: 1 });
  await call(sandbox, 'POST', 'v2.04/send/sms', sms());
  const resubmit = { SendTime: '2030-01-01T09:00:00' };
  expect(await call(sandbox, 'PATCH', 'v2.04/set/resubmit/M1', resubmit)).toMatchObject({
    body: { Result: 'Success', Status: 'Pending', Action: 'Resubmit' },
  });
  expect(await call(sandbox, 'GET', 'v2.04/get/status/M1')).toMatchObject({
    body: { Status: 'Pending', DelayedTimeUTC: '2030-01-01 09:00:00' },
  });
});

test('replies are in the status of their message, in the list of received messages, and in reports', async () => {
  await using hook = await webhookReceiver();
  await using sandbox = await startTestSandbox({ webhook: { url: hook.url }, replyRate: 1 });
  await call(sandbox, 'POST', 'v2.04/send/sms', sms({ SubAccount: 'North' }));
  await expect.poll(() => hook.bodies.length).toBe(2);
  const [, report] = hook.bodies.map((body) => JSON.parse(String(body)));
  expect(report).toMatchObject({
    Type: 'SMSReply',
    Status: 'RECEIVED',
    Result: 'RECEIVED',
    MessageID: 'M1',
    SubAccount: 'North',
    Destination: '+64211234567',
  });
  const reply = { ReceivedID: report.ReceivedID, From: '+64211234567', MessageText: report.Message };
  expect(await call(sandbox, 'GET', 'v2.04/get/sms/reply/M1/?recordsPerPage=100&page=1')).toMatchObject({
    body: { Result: 'Success', Status: 'Completed', Recipients: [{ SMSReplies: [reply] }] },
  });
  const received = (query: string) =>
    call(sandbox, 'GET', `v2.04/get/sms/received?recordsPerPage=100&page=1&${query}`);
  const dates = 'dateFrom=2020-01-01 00:00:00&dateTo=2020-01-02 00:00:00';
  expect(await received('timePeriod=1440')).toMatchObject({
    status: 200,
    body: {
      Result: 'Success',
      TotalRecords: 1,
      Messages: [{ ...reply, MessageID: 'M1', SubAccount: 'North' }],
    },
  });
  expect(await received(encodeURI(dates))).toMatchObject({ body: { TotalRecords: 0, Messages: [] } });
  for (const wrong of ['timePeriod=1441', 'timePeriod=5&dateFrom=2020-01-01', 'dateFrom=2020-01-01']) {
    expect(await received(wrong)).toMatchObject({ status: 400, body: { Result: 'Failed' } });
  }
});

test('the older call style has the credentials in the body, and makes every call by POST', async () => {
  await using sandbox = await startTestSandbox({ token: 'key' });
  const pair = { Sender: 'user@example.com', APIKey: 'key' };
  const post = (path: string, body: object) =>
    request(`${sandbox.url}/api/v2.04/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: '' },
      body: JSON.stringify(body),
    }).then(async (answer) => ({ status: answer.statusCode, body: await answer.body.json() }));
  expect(await post('send/sms', { ...pair, ...sms() })).toMatchObject({ status: 200 });
  expect(await post('get/status', { ...pair, MessageID: 'M1' })).toMatchObject({
    body: { Status: 'Completed' },
  });
  expect(await post('get/status', { ...pair, APIKey: 'other', MessageID: 'M1' })).toMatchObject({
    status: 401,
  });
  expect(await post('send/sms', { Sender: pair.Sender, ...sms() })).toMatchObject({ status: 400 });
  expect(await sandbox.journalText()).not.toContain('"key"');
});

test('deviations of published clients from the document are accepted', async () => {
  await using sandbox = await startTestSandbox();
  const blank = {
    Reference: '',
    SubAccount: '',
    WebhookCallbackURL: '',
    TimeZone: '',
    CharacterConversion: '',
  };
  const written = { ...blank, SendTime: '2030-01-01 09:00', WebhookCallbackFormat: 'json' };
  expect(await call(sandbox, 'POST', 'v2.04/send/sms', sms(written))).toMatchObject({ status: 200 });
  expect(await call(sandbox, 'GET', 'v2.04/get/status/M1')).toMatchObject({
    body: { Status: 'Pending', DelayedTimeUTC: '2030-01-01 09:00:00', SubAccount: null, Reference: null },
  });
  const later = { SendTime: '2031-01-01 09:00' };
  expect(await call(sandbox, 'PATCH', 'v2.04/set/reschedule/M1', later)).toMatchObject({ status: 200 });
});

test.each(['', '/api/v2.02', '/api/v2.03', '/api/v2.04/'])(
  'an account of rest-2.02 with an address that ends with "%s" uses that version',
  async (end) => {
    await using hook = await webhookReceiver();
    await using sandbox = await startTestSandbox({ webhook: { url: hook.url } });
    const gateway = openGateway(anAccount({ baseUrl: sandbox.url + end, statusLookUp: true }));
    const evidence = await gateway.send(outgoing(smallestMessage('rest-2.02', 'sms')));
    expect(gateway.classify(evidence, 'M1')).toMatchObject({ kind: 'accepted' });
    expect(await gateway.lookUp('M1')).toMatchObject({ kind: 'found' });
    await gateway.close();
    await expect.poll(() => hook.bodies.length).toBe(1);
    const version = /v2\.\d\d/.exec(end)?.[0] ?? 'v2.02';
    expect(JSON.parse(String(hook.bodies[0]))).toMatchObject({ Version: version });
  },
);
