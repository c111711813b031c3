import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { type AcceptedMessage, deliver, deliveryReport } from '../../../src/sandbox/delivery.ts';
import { createJobNumber } from '../../../src/sandbox/seeded-values.ts';
import {
  type EncodedDeliveryReport,
  encodeDeliveryReport,
} from '../../../src/wire/encode-delivery-report.ts';

/**
 * Calls a webhook for each line of a file, as fast as possible or at a rate. Prints the seconds, and the times of
 * answers (milliseconds). A report is written when it is sent: millions of them need more memory than there is.
 */
const [url = '', path = '', file = '', perSecond = '0'] = process.argv.slice(2);
const connections = 64;
const sender = 'bench@example.com';

const recipient = z.tuple([z.string(), z.string()]);
const settings = { seed: 1, undeliveredRate: 0, replyRate: 0 };
const sentAt = Date.parse('2026-11-21T12:00:00Z');

/** As the sandbox writes it: result, job number and time differ from message to message. */
function reportOf(line: string): EncodedDeliveryReport {
  const [messageId, destination] = recipient.parse(JSON.parse(line));
  const request = Number.parseInt(messageId.slice(8, 16), 16);
  const sendAt = new Date(sentAt + request);
  const message: AcceptedMessage = {
    interface: 'rest-2.02',
    version: 'v2.02',
    channel: 'sms',
    messageId,
    jobNumber: createJobNumber('job', 1, messageId),
    labels: { reference: 'bench' },
    zone: { written: 'UTC', region: 'UTC' },
    content: { kind: 'measured', units: { SMSParts: 1 } },
    simulated: false,
    acceptedAt: sendAt,
    sendAt,
    delayed: false,
    aborted: false,
    resubmitted: 0,
  };
  const delivery = deliver(message, { Recipient: destination }, settings);
  const callback = { url: `${url}${path}`, format: 'json', id: 'message', sender } as const;
  const { headers, ...report } = encodeDeliveryReport(deliveryReport(message, delivery, callback), 'json');
  return { ...report, headers: { ...headers, 'X-Sender': sender, 'X-Timestamp': new Date().toISOString() } };
}

const pool = new Pool(url, { connections, allowH2: false });
const lines = createInterface({ input: createReadStream(file) })[Symbol.asyncIterator]();
/** Milliseconds, by the order of the lines. */
const durations: number[] = [];
let next = 0;

async function send(line: string): Promise<void> {
  const index = next++;
  const report = reportOf(line);
  const begun = performance.now();
  const { statusCode, body } = await pool.request({ path, ...report });
  await body.dump();
  durations[index] = performance.now() - begun;
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`);
}

async function sendAll(): Promise<void> {
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) await send(line.value);
}

/** Sends each report at its time, without waiting for earlier answers. */
async function sendPaced(rate: number): Promise<void> {
  const begun = performance.now();
  const sent: Promise<void>[] = [];
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    const wait = begun + (next / rate) * 1000 - performance.now();
    if (wait > 1) await sleep(wait);
    sent.push(send(line.value));
  }
  await Promise.all(sent);
}

const begun = performance.now();
if (Number(perSecond) > 0) await sendPaced(Number(perSecond));
else await Promise.all(Array.from({ length: connections }, sendAll));
const seconds = (performance.now() - begun) / 1000;
await pool.close();
const sorted = Float64Array.from(durations).sort();
const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
console.log(JSON.stringify({ seconds, median: at(0.5), p99: at(0.99) }));
