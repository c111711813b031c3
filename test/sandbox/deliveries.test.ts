import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { SendRequest } from '../../src/domain/message.ts';
import { mergeDestination, unitsFor } from '../../src/sandbox/content.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { rest202Json } from '../../src/wire/rest-2.02.ts';
import { send as sendTo, startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';
import { webhookReceiver } from './webhook-receiver.ts';

const start = (url: string, options: SandboxOptions = {}): Promise<TestSandbox> =>
  startTestSandbox({ webhook: { url }, ...options });

const numbers = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ Recipient: `+6421${String(index).padStart(6, '0')}` }));

function request(changes: Partial<SendRequest> = {}): SendRequest {
  const fields = { Message: 'Hi', SubAccount: 'North', Department: 'Ops' };
  return {
    channel: 'sms',
    messageId: 'V1',
    fields,
    destinations: numbers(1),
    files: [],
    keypads: [],
    ...changes,
  };
}

async function send(sandbox: Sandbox, ...requests: SendRequest[]): Promise<void> {
  for (const one of requests) expect(await sendTo(sandbox, rest202Json, one)).toMatchObject({ status: 200 });
}

const allTaken = (sandbox: Sandbox) => expect.poll(sandbox.outstandingDeliveryReports).toBe(0);

describe('delivery reports of an accepted request', () => {
  test('every recipient is reported once, with the reference values of the request', async () => {
    await using hook = await webhookReceiver();
    await using sandbox = await start(hook.url, { now: () => new Date('2026-01-02T03:04:05Z') });
    await send(sandbox, request({ destinations: numbers(300) }));
    await allTaken(sandbox);
    expect(hook.reports.map(({ destination }) => destination).toSorted()).toEqual(
      numbers(300).map(({ Recipient }) => Recipient),
    );
    expect(hook.reports[0]).toMatchObject({
      messageId: 'V1',
      type: 'SMS',
      outcome: 'delivered',
      subAccount: 'North',
      department: 'Ops',
      jobNumber: expect.stringMatching(/^[0-9A-F]{8}$/),
      sentTimeUtc: '2026-01-02T03:04:05.000Z',
      price: '0.080',
      units: { SMSParts: 1 },
    });
  });

  test('email and fax are reported in their own units', async () => {
    await using hook = await webhookReceiver();
    await using sandbox = await start(hook.url);
    const files = [{ Name: 'a.pdf', Data: Buffer.from('12345').toString('base64') }];
    const fields = { EmailSubject: 'é', MessagePlain: 'abc' };
    const email = request({ channel: 'email', fields, files, destinations: [{ Recipient: 'a@b.example' }] });
    const fax = request({ channel: 'fax', messageId: 'V2', fields: { Message: 'x' }, files });
    await send(sandbox, email, fax);
    await allTaken(sandbox);
    expect(hook.reports.toSorted((a, b) => a.type.localeCompare(b.type))).toMatchObject([
      { type: 'Email', units: { EmailSize: 10 }, price: '0.020' },
      { type: 'Fax', units: { FaxPages: 2 }, price: '0.180' },
    ]);
  });

  test('a request that is accepted twice is delivered twice', async () => {
    await using hook = await webhookReceiver();
    await using sandbox = await start(hook.url);
    await send(sandbox, request(), request());
    await allTaken(sandbox);
    expect(hook.reports).toHaveLength(2);
  });

  test('deliveries are reported after the delay, and are outstanding until then', async () => {
    await using hook = await webhookReceiver();
    await using sandbox = await start(hook.url, { deliveryDelay: 150 });
    await send(sandbox, request());
    expect({ outstanding: sandbox.outstandingDeliveryReports(), reports: hook.reports }).toEqual({
      outstanding: 1,
      reports: [],
    });
    await allTaken(sandbox);
    expect(hook.reports).toHaveLength(1);
  });
});

describe('simulated deliveries', () => {
  const outcomes = async (options: SandboxOptions, ...requests: SendRequest[]) => {
    await using hook = await webhookReceiver();
    await using sandbox = await start(hook.url, options);
    await send(sandbox, ...requests);
    await allTaken(sandbox);
    return new Map(
      hook.reports.map(({ messageId, destination, outcome, result, price }) => [
        `${messageId} ${destination}`,
        { outcome, result, price },
      ]),
    );
  };
  const options = { undeliveredRate: 0.3, now: () => new Date(0) };
  const one = request({ destinations: numbers(100) });
  const other = request({ messageId: 'V2', destinations: numbers(100).toReversed() });

  test('the same seed gives the same deliveries, in whatever order the requests arrive', async () => {
    expect(await outcomes({ ...options, seed: 7 }, one, other)).toEqual(
      await outcomes({ ...options, seed: 7 }, other, one),
    );
  });

  test('another seed gives other deliveries', async () => {
    const [first, second] = [
      await outcomes({ ...options, seed: 7 }, one),
      await outcomes({ ...options, seed: 8 }, one),
    ];
    expect(first).not.toEqual(second);
  });

  test('deliveries fail in the requested share, some of them free of charge', async () => {
    const failed = [...(await outcomes(options, one, other)).values()].filter(
      ({ outcome }) => outcome === 'undelivered',
    );
    expect(failed.length).toBeGreaterThan(40);
    expect(failed.length).toBeLessThan(80);
    const charged = new Map(failed.map(({ result, price }) => [result, price]));
    expect(charged.get('Bad Number')).toBe('0.080');
    expect(charged.get('Destination is blacklisted')).toBe('0.000');
  });
});

describe('the text of an SMS', () => {
  const ana = { Recipient: '+64', 'First Name': 'Ana [[Company]]', Custom1: '5' };

  test('the text is merged from the destination once, and only with existing fields', () => {
    expect(mergeDestination('[[First Name]]: [[Custom1]]/[[Company]]/[[STOP]]/[[Recipient]]', ana)).toBe(
      'Ana [[Company]]: 5//[[STOP]]/[[Recipient]]',
    );
  });

  test('parts are counted after merging, and after character conversion if it is requested', () => {
    const parts = (text: string, firstName: string, characterConversion = false) =>
      unitsFor({ kind: 'sms', text, characterConversion }, { Recipient: '+64', 'First Name': firstName });
    expect(parts(`${'x'.repeat(150)}[[First Name]]`, 'y'.repeat(10))).toEqual({ SMSParts: 1 });
    expect(parts(`${'x'.repeat(150)}[[First Name]]`, 'y'.repeat(11))).toEqual({ SMSParts: 2 });
    expect(parts(`${'x'.repeat(100)}[[First Name]]`, '’')).toEqual({ SMSParts: 2 });
    expect(parts(`${'x'.repeat(100)}[[First Name]]`, '’', true)).toEqual({ SMSParts: 1 });
  });
});

describe('reports that the receiver does not acknowledge', () => {
  test('a report is repeated until the receiver acknowledges it', async () => {
    let calls = 0;
    await using hook = await webhookReceiver((response) => {
      calls++;
      if (calls === 1) response.writeHead(500).end();
      else if (calls === 2) response.destroy();
      else if (calls === 3) response.writeHead(302, { Location: '/' }).end();
      else response.writeHead(204).end();
    });
    await using sandbox = await start(hook.url, { webhookRetry: 10 });
    await send(sandbox, request());
    await allTaken(sandbox);
    expect(calls).toBe(4);
    expect(new Set(hook.reports.map((report) => JSON.stringify(report))).size).toBe(1);
  });

  test('a report is abandoned after as many calls as fit into 24 hours', async () => {
    let calls = 0;
    await using hook = await webhookReceiver((response) => {
      calls++;
      response.writeHead(500).end();
    });
    await using sandbox = await start(hook.url, { webhookRetry: 1 });
    await send(sandbox, request());
    await allTaken(sandbox);
    expect(calls).toBe(289);
  });

  test('an unacknowledged report does not keep the sandbox from closing', async () => {
    let calls = 0;
    await using hook = await webhookReceiver(() => {
      calls++;
    });
    {
      await using sandbox = await start(hook.url);
      await send(sandbox, request({ destinations: numbers(100) }));
      await expect.poll(() => calls).toBeGreaterThan(0);
    }
    await sleep(50);
    // The calls in flight, out of a hundred.
    expect(calls).toBeLessThanOrEqual(16);
  });
});

test('the number of simultaneous webhook calls is limited', async () => {
  let now = 0;
  let maxConcurrent = 0;
  await using hook = await webhookReceiver((response) => {
    now++;
    maxConcurrent = Math.max(maxConcurrent, now);
    setTimeout(() => {
      now--;
      response.end();
    }, 5);
  });
  await using sandbox = await start(hook.url);
  await send(sandbox, request({ destinations: numbers(200) }));
  await allTaken(sandbox);
  expect(maxConcurrent).toBeLessThanOrEqual(16);
  expect(hook.reports).toHaveLength(200);
});
