import { setTimeout as sleep } from 'node:timers/promises';
import { Big } from 'big.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createToken } from '../../src/engine/access/tokens.ts';
import { freePort } from '../support/free-port.ts';
import { startFleet } from '../support/killed-fleet.ts';
import { openTestLedger } from '../support/ledger.ts';
import { recipientKey, startReportingService } from '../support/reporting-service.ts';
import { volleyInProcess } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

const minutes = Number(process.env['VOLLEY_TORTURE_MINUTES'] ?? 15);
const seed = process.env['TORTURE_SEED'] ?? 'fleet';
const token = 'a-token-of-at-least-22-characters';
const contacts = 900;
/** Runs at a time. */
const atOnce = 3;

const accounts = `
accounts:
  main:
    interface: rest-2.02
    baseUrl: \${SERVICE_URL}
    authToken: \${TOKEN}
    webhookToken: \${TOKEN}
    timeouts: { connect: 2s, headers: 5s, body: 5s }
    limits: { concurrency: 16, requestsPerSecond: 60 }
`;

const campaign = `
campaign: load
account: main
channel: sms
contacts: { file: load.csv, country: AU, columns: { Recipient: mobile } }
message: { Message: "Hello", ChargeCode: "[[code]]" }
dispatch: { chunkSize: 3, concurrency: 16 }
`;

function contactsCsv(): string {
  const rows = Array.from(
    { length: contacts },
    (_, index) => `04120${String(index).padStart(5, '0')},C${index % 7}`,
  );
  return ['mobile,code', ...rows, ''].join('\n');
}

const reportedRow = z.object({
  'Volley State': z.string(),
  'Volley Address': z.string().nullable(),
  'Volley MessageID': z.string().nullable(),
  'Volley Price': z.string().nullable(),
});
const billing = z.object({
  rows: z.array(
    z.object({
      ChargeCode: z.string(),
      accepted: z.number(),
      delivered: z.number(),
      undelivered: z.number(),
      price: z.string(),
    }),
  ),
});

test(`a fleet of five processes that are killed at random for ${minutes} minutes loses nothing`, async () => {
  await using cleanUp = new AsyncDisposableStack();
  const ledger = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const workspace = cleanUp.use(
    await makeWorkspace({
      'accounts.yaml': accounts,
      'campaigns/load.yaml': campaign,
      'campaigns/load.csv': contactsCsv(),
    }),
  );
  const ports = [await freePort(), await freePort()];
  const apiPorts = [await freePort(), await freePort()];
  const service = cleanUp.use(
    await startReportingService(ports.map((port) => `http://127.0.0.1:${port}/webhook/main/${token}`)),
  );
  const env = {
    ...{ DATABASE_URL: ledger.url, VOLLEY_ACCOUNTS: 'accounts.yaml', TOKEN: token },
    ...{ SERVICE_URL: service.url },
  };
  const surroundings = { cwd: workspace.folder, env };
  const key = await createToken(ledger.context, {
    ...({ name: 'starter', owner: 'ann', scope: 'run', accounts: null, expiresAt: null } as const),
  });

  const begun = performance.now();
  const fleet = startFleet(
    [
      ...ports.map((port, index) => ({
        name: `serve ${index}`,
        args: ['serve', '--port', String(port), '--api-port', String(apiPorts[index])],
        readyText: 'worker started',
      })),
      ...[1, 2, 3].map((index) => ({
        name: `worker ${index}`,
        args: ['worker', '--no-schedules'],
        readyText: 'worker started',
      })),
    ],
    surroundings,
    minutes * 60_000,
    seed,
  );
  let over = false;
  const killing = fleet.killed.finally(() => {
    over = true;
  });
  killing.catch(() => undefined);

  /** Repeats one key at both APIs, which start one run. */
  async function startRun(number: number): Promise<string> {
    for (let tries = 0; ; tries++) {
      const answer = await fetch(`http://127.0.0.1:${apiPorts[tries % 2]}/api/v1/runs`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': `run-${number}`,
        },
        body: JSON.stringify({ campaign: 'load.yaml' }),
        signal: AbortSignal.timeout(30_000),
      }).catch(() => undefined);
      const body = z.object({ run: z.string() }).safeParse(await answer?.json().catch(() => undefined));
      if (answer?.status === 202 && body.success) return body.data.run;
      if (answer && ![202, 409, 429, 500, 503].includes(answer.status)) {
        throw new Error(`a start was answered ${answer.status}`);
      }
      await sleep(300);
    }
  }
  const status = async (run: string) =>
    z
      .object({ state: z.string(), requests: z.record(z.string(), z.number()) })
      .parse(JSON.parse((await volleyInProcess(['status', run, '--json'], surroundings)).stdout));

  const runs: string[] = [];
  const underWay = new Set<string>();
  const dropCompleted = async (): Promise<void> => {
    for (const run of underWay) if ((await status(run)).state === 'completed') underWay.delete(run);
  };
  let lastMinute = 0;
  while (!over) {
    await dropCompleted();
    while (underWay.size < atOnce && !over) {
      const run = await startRun(runs.length);
      runs.push(run);
      underWay.add(run);
    }
    await sleep(1_000);
    const minute = Math.floor((performance.now() - begun) / 60_000);
    if (minute > lastMinute) {
      lastMinute = minute;
      process.stdout.write(
        `  ${minute} min: ${fleet.kills()} kills, ${runs.length} runs, ${service.accepted.size} requests accepted, ${service.figures.reports} reports taken\n`,
      );
    }
  }
  await killing;
  while (underWay.size > 0) {
    await dropCompleted();
    await sleep(500);
  }
  await service.reported();
  while ((await ledger.ledger.pool.query('SELECT FROM inbox_queue LIMIT 1')).rowCount !== 0) await sleep(200);

  const wrong: string[] = [];
  const states = new Map<string, number>();
  const seen = new Set<string>();
  for (const run of runs) {
    const { stdout } = await volleyInProcess(['report', 'contacts', run, '--format', 'ndjson'], surroundings);
    const rows = stdout.trimEnd().split('\n');
    if (rows.length !== contacts) wrong.push(`${run} has ${rows.length} rows`);
    for (const line of rows) {
      const row = reportedRow.parse(JSON.parse(line));
      const state = row['Volley State'];
      states.set(state, (states.get(state) ?? 0) + 1);
      const id = recipientKey(row['Volley MessageID'] ?? '', row['Volley Address'] ?? '');
      const taken = service.recipients.get(id);
      seen.add(id);
      const expected = taken ? [taken.outcome] : ['rejected', 'failed', 'unknown'];
      if (!expected.includes(state)) wrong.push(`${run} ${id}: ${state}, expected ${expected.join(' or ')}`);
      if (taken && !new Big(row['Volley Price'] ?? 0).eq(taken.price)) wrong.push(`${run} ${id}: price`);
    }
  }
  const lost = [...service.recipients.keys()].filter((id) => !seen.has(id));
  const twice = [...service.accepted.values()].filter((times) => times > 1).length;

  const billed = billing.parse(
    JSON.parse(
      (await volleyInProcess(['report', 'billing', '--by', 'ChargeCode', '--json'], surroundings)).stdout,
    ),
  );
  const bill = billed.rows.map(({ ChargeCode, accepted, delivered, undelivered, price }) => {
    return { ChargeCode, accepted, delivered, undelivered, price: new Big(price).toFixed(4) };
  });
  const recounted = [...Map.groupBy(service.recipients.values(), ({ chargeCode }) => chargeCode)]
    .map(([ChargeCode, taken]) => ({
      ChargeCode,
      accepted: taken.length,
      delivered: taken.filter(({ outcome }) => outcome === 'delivered').length,
      undelivered: taken.filter(({ outcome }) => outcome === 'undelivered').length,
      price: taken.reduce((sum, { price }) => sum.plus(price), new Big(0)).toFixed(4),
    }))
    .toSorted((one, other) => (one.ChargeCode < other.ChargeCode ? -1 : 1));
  const codes = await fleet.stop();

  console.log({
    minutes,
    seed,
    kills: fleet.kills(),
    runs: runs.length,
    recipients: Object.fromEntries(states),
    ...service.figures,
    'requests accepted': service.accepted.size,
    ...{ lost: lost.length, twice, wrong: wrong.length, codes },
    seconds: Math.round((performance.now() - begun) / 1_000),
  });
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(lost).toEqual([]);
  expect(twice).toBe(0);
  expect(bill.toSorted((one, other) => (one.ChargeCode < other.ChargeCode ? -1 : 1))).toEqual(recounted);
  expect(codes).toEqual([0, 0, 0, 0, 0]);
});
