import { describe, expect, test } from 'vitest';
import type { InterfaceName, MessageFields, SendRequest } from '../../src/domain/message.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type DeliveryReport, deliveryReportCredentials } from '../../src/wire/delivery-report.ts';
import { rest102Xml, rest104Json } from '../../src/wire/rest-1.ts';
import { rest202Json, rest202Xml } from '../../src/wire/rest-2.02.ts';
import { soapTts } from '../../src/wire/soap-tts.ts';
import type { WireInterface } from '../../src/wire/wire-interface.ts';
import { smallestMessage } from '../support/messages.ts';
import { post, send, startTestSandbox } from './start-test-sandbox.ts';
import { type WebhookReceiver, webhookReceiver } from './webhook-receiver.ts';

/** The content and the target of reports. */

type Sent = { readonly wire: WireInterface; readonly request: SendRequest };

function sent(
  wire: WireInterface,
  channel: SendRequest['channel'],
  fields: MessageFields = {},
  count = 1,
): Sent {
  const smallest = smallestMessage(wire.name, channel);
  const address = (index: number) =>
    channel === 'email' ? `a${index}@b.example` : `+64211234${String(index).padStart(3, '0')}`;
  const destinations = Array.from({ length: count }, (_, index) => ({ Recipient: address(index) }));
  return { wire, request: { ...smallest, fields: { ...smallest.fields, ...fields }, destinations } };
}

/** Sends requests to a sandbox with this receiver as webhook, and waits for every report. */
async function reportsOf(
  hook: WebhookReceiver,
  options: SandboxOptions,
  messages: readonly Sent[],
): Promise<readonly DeliveryReport[]> {
  await using sandbox = await startTestSandbox({
    webhook: { url: hook.url },
    now: () => new Date(0),
    ...options,
  });
  for (const { wire, request } of messages) {
    expect(await send(sandbox, wire, request)).toMatchObject({ status: 200 });
  }
  await expect.poll(sandbox.outstandingDeliveryReports).toBe(0);
  return hook.reports;
}

describe('the form of a delivery report', () => {
  test.each([
    [undefined, 'application/json', '{'],
    ['json', 'application/json', '{'],
    ['xml', 'application/xml; charset=utf-8', '<?xml'],
  ] as const)('a report has the format of the default webhook: %s', async (format, type, beginning) => {
    await using hook = await webhookReceiver();
    const webhook = { url: hook.url, ...(format ? { format } : {}) };
    await reportsOf(hook, { webhook }, [sent(rest202Json, 'sms')]);
    expect(hook.headers[0]?.['content-type']).toBe(type);
    expect(hook.bodies[0]?.toString().startsWith(beginning)).toBe(true);
  });

  test.each([
    ['XML', 'xml'],
    ['xml', 'xml'],
    ['Json', 'json'],
    ['POST', 'form'],
    ['CSV', 'json'],
  ])('a report has the format that the request names, if it exists: %s', async (requested, format) => {
    await using hook = await webhookReceiver();
    const lenient = { lenient: true };
    await reportsOf(hook, lenient, [sent(rest202Json, 'sms', { WebhookCallbackFormat: requested })]);
    expect(hook.headers[0]?.['content-type']).toContain(format);
  });

  test.each([
    ['post', 'POST', 'application/x-www-form-urlencoded'],
    ['get', 'GET', undefined],
  ] as const)('a report is written as form fields or as a query string: %s', async (format, method, type) => {
    await using hook = await webhookReceiver();
    const [report] = await reportsOf(hook, { webhook: { url: `${hook.url}?a=b`, format } }, [
      sent(rest202Json, 'sms'),
    ]);
    expect(report).toMatchObject({ messageId: 'M1', destination: '+64211234000', outcome: 'delivered' });
    expect(hook.calls[0]?.method).toBe(method);
    expect(hook.headers[0]?.['content-type']).toBe(type);
    expect(String(hook.calls[0]?.body).startsWith('a=b&')).toBe(format === 'get');
  });

  test('a report is sent with the user and password of the address', async () => {
    await using hook = await webhookReceiver();
    const url = hook.url.replace('http://', 'http://volley:p%40ss@');
    await reportsOf(hook, { webhook: { url } }, [sent(rest202Json, 'sms')]);
    await reportsOf(hook, { webhook: { url: hook.url } }, [sent(rest202Json, 'sms')]);
    const basic = `Basic ${Buffer.from('volley:p@ss').toString('base64')}`;
    expect(hook.headers.map(({ authorization }) => authorization)).toEqual([basic, undefined]);
  });

  test.each(['json', 'xml', 'post', 'get'] as const)(
    'a report contains the configured credentials: %s',
    async (format) => {
      await using hook = await webhookReceiver();
      const credentials = { sender: 'ann@example.com', apiKey: 'a&b c' };
      await reportsOf(hook, { webhook: { url: hook.url, format, credentials } }, [sent(rest202Json, 'sms')]);
      await reportsOf(hook, { webhook: { url: hook.url, format } }, [sent(rest202Json, 'sms')]);
      expect(hook.calls.map((call) => deliveryReportCredentials(call))).toEqual([credentials, {}]);
    },
  );

  test('a report contains the job number if that is configured and the answer names nothing else', async () => {
    await using hook = await webhookReceiver();
    const webhook = { url: hook.url, id: 'job' } as const;
    const [called] = await reportsOf(hook, { webhook }, [sent(soapTts, 'tts')]);
    expect(called?.messageId).toBe(called?.jobNumber);
    const [, text] = await reportsOf(hook, { webhook }, [sent(rest202Json, 'sms')]);
    expect(text?.messageId).toBe('M1');
  });

  test('a report goes to the address that the request names', async () => {
    await using hook = await webhookReceiver();
    await using other = await webhookReceiver();
    const webhook = { url: other.url };
    await reportsOf(hook, { webhook }, [sent(rest202Xml, 'sms', { WebhookCallbackURL: hook.url })]);
    expect(JSON.parse(String(hook.bodies[0]))).toMatchObject({ URL: hook.url });
    expect(other.bodies).toEqual([]);
  });

  test('no report is sent without a default webhook, whatever the request names', async () => {
    await using hook = await webhookReceiver();
    await using sandbox = await startTestSandbox();
    const fields = { WebhookCallbackURL: hook.url, WebhookCallbackFormat: 'XML' };
    const { wire, request } = sent(rest202Json, 'sms', fields);
    expect(await send(sandbox, wire, request)).toMatchObject({ status: 200 });
    expect(sandbox.outstandingDeliveryReports()).toBe(0);
    expect(hook.bodies).toEqual([]);
  });

  test('a report quotes any text that was sent, even where XML cannot carry it', async () => {
    await using hook = await webhookReceiver();
    await using sandbox = await startTestSandbox({
      webhook: { url: hook.url, format: 'xml' },
      lenient: true,
    });
    const data = {
      Message: 'x\ud800',
      SubAccount: '\u0007]]>&<\r\nx',
      Destinations: [{ Recipient: '\u0001\udfff' }],
    };
    const answer = await post(`${sandbox.url}/api/v2.02/send/sms`, JSON.stringify({ MessageData: data }), {
      Authorization: 'Basic any',
      'Content-Type': 'application/json',
    });
    expect(answer).toMatchObject({ status: 200 });
    await expect.poll(() => hook.bodies.length).toBe(1);
    expect(hook.reports).toMatchObject([{ destination: '?\ufffd', subAccount: '?]]>&<\r\nx' }]);
  });
});

test.each<[InterfaceName, string, WireInterface]>([
  ['rest-2.02', 'v2.02', rest202Json],
  ['rest-1.04', 'v1.04', rest104Json],
  ['rest-1.02', 'v1.02', rest102Xml],
  ['soap-tts', 'v1.04', soapTts],
])('a report on a message of %s has version %s', async (_, version, wire) => {
  await using hook = await webhookReceiver();
  await reportsOf(hook, {}, [sent(wire, wire === soapTts ? 'tts' : 'sms')]);
  expect(JSON.parse(String(hook.bodies[0]))).toMatchObject({ Version: version });
});

describe('phone numbers in delivery reports', () => {
  test.each([
    ['64211234567', '+64211234567'],
    ['+64 (21) 123-4567', '+64211234567'],
    ['021 123 4567', '021 123 4567'],
    ['nonsense', 'nonsense'],
  ])('the number %s is reported as %s', async (number, reported) => {
    await using hook = await webhookReceiver();
    const message = sent(rest202Json, 'sms');
    const request = { ...message.request, destinations: [{ Recipient: number }] };
    const [report] = await reportsOf(hook, { lenient: true }, [{ ...message, request }]);
    expect(report?.destination).toBe(reported);
  });

  test('an email address is reported unchanged', async () => {
    await using hook = await webhookReceiver();
    const message = sent(rest202Json, 'email');
    const request = { ...message.request, destinations: [{ Recipient: '64211234567' }] };
    const [report] = await reportsOf(hook, { lenient: true }, [{ ...message, request }]);
    expect(report?.destination).toBe('64211234567');
  });
});

describe.each([
  ['voice', rest104Json],
  ['tts', soapTts],
] as const)('delivery reports of calls (%s)', (channel, wire) => {
  test('a call has its own results, seconds and price, always the same for the same seed', async () => {
    const options = { undeliveredRate: 0.5, seed: 3 };
    const run = async () => {
      await using hook = await webhookReceiver();
      const reports = await reportsOf(hook, options, [sent(wire, channel, {}, 300)]);
      return reports.toSorted((a, b) => a.destination.localeCompare(b.destination));
    };
    const reports = await run();
    expect(await run()).toEqual(reports);
    const resultsOf = (outcome: string) =>
      new Set(reports.filter((report) => report.outcome === outcome).map(({ result }) => result));
    expect(resultsOf('delivered')).toEqual(new Set(['Sent Ok', 'AnswerPhone']));
    expect(resultsOf('undelivered')).toEqual(
      new Set(['No Answer', 'Busy', 'Bad Number (NRD)', 'Call Timed Out']),
    );
    for (const { type, outcome, units, price } of reports) {
      expect(type).toBe('Voice');
      expect(price).toBe(outcome === 'delivered' ? '0.150' : '0.000');
      const seconds = units.VoiceSeconds ?? -1;
      if (outcome === 'delivered') expect(seconds).toBeGreaterThanOrEqual(5);
      else expect(seconds).toBe(0);
      expect(seconds).toBeLessThanOrEqual(60);
    }
  });
});

test.each([
  ['SendMode', 'Test'],
  ['SendMode', 'test'],
  ['Mode', 'TEST'],
])('a message with %s %s is reported as a simulated success of price 0', async (name, value) => {
  await using hook = await webhookReceiver();
  await using sandbox = await startTestSandbox({ webhook: { url: hook.url }, undeliveredRate: 1 });
  const body = {
    Sender: 'user@example.com',
    APIKey: 'any',
    APIVersion: '1.04',
    MessageType: 'SMS',
    MessageData: { Message: 'x', [name]: value, Destinations: ['64211234567', '64211234568'] },
  };
  expect(await post(`${sandbox.url}/api/json/send/`, JSON.stringify(body))).toMatchObject({ status: 200 });
  await expect.poll(() => hook.bodies.length).toBe(2);
  const report = { outcome: 'delivered', price: '0.000', units: { SMSParts: 1 } };
  expect(hook.reports).toMatchObject([report, report]);
});

test('the headers of every webhook call name the sender and the time', async () => {
  await using hook = await webhookReceiver();
  await reportsOf(hook, {}, [sent(rest202Json, 'sms')]);
  const credentials = { sender: 'ann@example.com', apiKey: 'k' };
  await reportsOf(hook, { webhook: { url: hook.url, credentials } }, [sent(rest202Json, 'sms')]);
  expect(hook.headers).toMatchObject([
    { 'x-sender': 'sandbox@service.example', 'x-timestamp': '1970-01-01T00:00:00.000Z' },
    { 'x-sender': 'ann@example.com', 'x-timestamp': '1970-01-01T00:00:00.000Z' },
  ]);
});
