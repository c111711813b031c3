import { expect, test } from 'vitest';
import { rest104Xml } from '../../src/wire/rest-1.ts';
import { rest202Json } from '../../src/wire/rest-2.02.ts';
import { secret, smallestMessage } from '../support/messages.ts';
import { get, send, startTestSandbox } from './start-test-sandbox.ts';
import { webhookReceiver } from './webhook-receiver.ts';

const year = 365 * 24 * 3600 * 1000;

function sms(fields: Record<string, string>) {
  const message = smallestMessage('rest-2.02', 'sms');
  return { ...message, fields: { ...message.fields, ...fields } };
}

async function status(url: string) {
  const { text } = await get(`${url}/api/v2.04/get/status/M1`, { Authorization: `Basic ${secret}` });
  return JSON.parse(text);
}

test('a message for 2030 is pending in the look-up and not reported', async () => {
  await using hook = await webhookReceiver();
  await using sandbox = await startTestSandbox({ webhook: { url: hook.url } });
  await send(sandbox, rest202Json, sms({ SendTime: '2030-01-01T09:00', TimeZone: 'New Zealand' }));
  expect(await status(sandbox.url)).toMatchObject({
    Status: 'Pending',
    DelayedTimeUTC: '2029-12-31 20:00:00',
    DelayedTimeLocal: '2030-01-01 09:00:00',
    Timezone: 'New Zealand',
    Recipients: [{ Status: 'Pending', SentTimeUTC: null }],
  });
  expect({ outstanding: sandbox.outstandingDeliveryReports(), calls: hook.calls }).toEqual({
    outstanding: 1,
    calls: [],
  });
});

test('a message is reported at its SendTime by a faster clock, with the time in its own zone', async () => {
  await using hook = await webhookReceiver();
  // Four years take a tenth of a second. The machine's clock is read only on events.
  let machineTime = new Date('2026-11-22T10:00:00Z');
  const clockSpeed = (40 * year) / 1000;
  await using sandbox = await startTestSandbox({
    webhook: { url: hook.url },
    clockSpeed,
    now: () => machineTime,
  });
  const auckland = { SendTime: '2030-01-01T09:00', TimeZone: 'Pacific/Auckland' };
  expect(await send(sandbox, rest202Json, sms(auckland))).toMatchObject({ status: 200 });
  expect(await send(sandbox, rest104Xml, sms(auckland))).toMatchObject({ status: 200 });
  await expect.poll(() => hook.bodies.length, { interval: 10 }).toBe(2);
  for (const body of hook.bodies) {
    expect(JSON.parse(String(body))).toMatchObject({
      SentTimeUTC: '2029-12-31 20:00:00',
      SentTimeUTC_RFC3339: '2029-12-31T20:00:00.000Z',
      SentTimeLocal: '2030-01-01 09:00:00',
    });
  }
  machineTime = new Date(machineTime.getTime() + 100);
  expect(await status(sandbox.url)).toMatchObject({ Status: 'Completed' });
});

test("a SendTime without a TimeZone is in the sender's own zone, and a past one means now", async () => {
  const now = () => new Date('2026-11-22T10:00:00Z');
  await using hook = await webhookReceiver();
  await using sandbox = await startTestSandbox({
    webhook: { url: hook.url },
    timeZone: 'Pacific/Auckland',
    now,
  });
  // 23:00 in Auckland.
  await send(sandbox, rest202Json, { ...sms({ SendTime: '2026-11-22T23:30' }), messageId: 'M2' });
  await send(sandbox, rest202Json, sms({ SendTime: '2026-11-22T22:30' }));
  await expect.poll(() => hook.bodies.length, { interval: 10 }).toBe(1);
  expect(JSON.parse(String(hook.bodies[0]))).toMatchObject({
    MessageID: 'M1',
    SentTimeLocal: '2026-11-22 23:00:00',
  });
  // The sandbox counts a report when its call is answered.
  await expect.poll(() => sandbox.outstandingDeliveryReports(), { interval: 10 }).toBe(1);
});
