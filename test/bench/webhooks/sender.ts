import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { z } from 'zod';
import { encodeDeliveryReport } from '../../../src/wire/encode-delivery-report.ts';

/**
 * Calls a webhook for each line of a file, as fast as possible or at a rate. Prints the seconds, and the times of
 * answers (milliseconds).
 */
const [url = '', path = '', file = '', perSecond = '0'] = process.argv.slice(2);
const connections = 64;

const lines = (await readFile(file, 'utf8')).trim().split('\n');
const recipient = z.tuple([z.string(), z.string()]);
const bodies = lines.map((line) => {
  const [messageId, destination] = recipient.parse(JSON.parse(line));
  return encodeDeliveryReport(
    {
      version: 'v2.02',
      url: 'https://volley.example/webhook',
      type: 'SMS',
      messageId,
      destination,
      status: 'Success',
      result: 'delivered',
      jobNumber: 'ABCD1234',
      price: '0.08',
      sentTimeUtc: '2026-11-21T12:00:00.000Z',
      units: { SMSParts: 1 },
    },
    'json',
  );
});

const pool = new Pool(url, { connections, allowH2: false });
const durations = new Float64Array(bodies.length);
let next = 0;

async function send(index: number): Promise<void> {
  const report = bodies[index];
  if (!report) return;
  const begun = performance.now();
  const { statusCode, body } = await pool.request({ path, ...report });
  await body.dump();
  durations[index] = performance.now() - begun;
  if (statusCode !== 200) throw new Error(`HTTP ${statusCode}`);
}

async function sendAll(): Promise<void> {
  while (next < bodies.length) await send(next++);
}

/** Sends each report at its time, without waiting for earlier answers. */
async function sendPaced(rate: number): Promise<void> {
  const begun = performance.now();
  const sent: Promise<void>[] = [];
  for (let index = 0; index < bodies.length; index++) {
    const wait = begun + (index / rate) * 1000 - performance.now();
    if (wait > 1) await sleep(wait);
    sent.push(send(index));
  }
  await Promise.all(sent);
}

const begun = performance.now();
if (Number(perSecond) > 0) await sendPaced(Number(perSecond));
else await Promise.all(Array.from({ length: connections }, sendAll));
const seconds = (performance.now() - begun) / 1000;
await pool.close();
const sorted = durations.toSorted();
const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
console.log(JSON.stringify({ seconds, median: at(0.5), p99: at(0.99) }));
