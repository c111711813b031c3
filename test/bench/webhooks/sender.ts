import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { deliver, deliveryReport } from '../../../src/sandbox/delivery.ts';
import type { AcceptedMessage } from '../../../src/sandbox/messages.ts';
import { createJobNumber } from '../../../src/sandbox/seeded-values.ts';
import {
  type EncodedDeliveryReport,
  encodeDeliveryReport,
} from '../../../src/wire/encode-delivery-report.ts';

/**
 * Calls a webhook for each line of a file, as fast as possible or at a rate. Prints how many it took in a second, and the
 * times of answers (milliseconds). The first reports are written before: a receiver is measured, not the sender. Millions
 * of them need more memory than there is, so later ones are written when they are sent. A tenth is sent before as fast as
 * possible and not measured: a process is slow in its first seconds.
 */
const [url = '', path = '', file = '', perSecond = '0'] = process.argv.slice(2);
const connections = 64;
const writtenBefore = 200_000;
const sender = 'bench@example.com';

const recipient = z.tuple([z.string(), z.string()]);
const settings = { seed: 1, undeliveredRate: 0, replyRate: 0, undeliveredAt: [] };
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
    destinations: [],
    callback: undefined,
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
const written: EncodedDeliveryReport[] = [];
/** Milliseconds. */
const durations: number[] = [];
let taken = 0;

/** @returns undefined at the end of the file */
async function writeReport(): Promise<EncodedDeliveryReport | undefined> {
  const line = await lines.next();
  return line.done === true ? undefined : reportOf(line.value);
}

/** @returns undefined at the end of the file */
const nextReport = async (): Promise<EncodedDeliveryReport | undefined> =>
  written[taken++] ?? (await writeReport());

async function send(report: EncodedDeliveryReport): Promise<void> {
  const begun = performance.now();
  const { statusCode, body } = await pool.request({ path, ...report });
  await body.dump();
  durations.push(performance.now() - begun);
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`);
}

/** @param until how many are sent at most */
async function sendAll(until = Number.POSITIVE_INFINITY): Promise<void> {
  const lane = async (): Promise<void> => {
    while (taken < until) {
      const report = await nextReport();
      if (!report) return;
      await send(report);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
}

/** Sends each report at its time, without waiting for earlier answers. */
async function sendPaced(rate: number): Promise<void> {
  const begun = performance.now();
  const sent: Promise<void>[] = [];
  for (let report = await nextReport(); report; report = await nextReport()) {
    const wait = begun + (sent.length / rate) * 1000 - performance.now();
    if (wait > 1) await sleep(wait);
    sent.push(send(report));
  }
  await Promise.all(sent);
}

while (written.length < writtenBefore) {
  const report = await writeReport();
  if (!report) break;
  written.push(report);
}
const rate = Number(perSecond);
await sendAll(written.length / 10);
durations.length = 0;
const begun = performance.now();
await (rate > 0 ? sendPaced(rate) : sendAll());
const seconds = (performance.now() - begun) / 1000;
await pool.close();
const sorted = Float64Array.from(durations).sort();
const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
console.log(JSON.stringify({ perSecond: sorted.length / seconds, median: at(0.5), p99: at(0.99) }));
