import { setTimeout as sleep } from 'node:timers/promises';
import { Big } from 'big.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createToken } from '../../src/engine/access/tokens.ts';
import type { Ledger } from '../../src/ledger/connection.ts';
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
  const scene = await openScene(cleanUp);
  const { fleet, service, ledger } = scene;
  const begun = performance.now();
  const runs = await sendUntilKillsEnd(scene, begun);
  await service.reported();
  while ((await ledger.pool.query('SELECT FROM inbox_queue LIMIT 1')).rowCount !== 0) await sleep(200);

  const { wrong, states, lost } = await compareContacts(scene, runs);
  const twice = [...service.accepted.values()].filter((times) => times > 1).length;
  const billed = await readBilling(scene);
  const codes = await fleet.stop();

  console.log({
    minutes,
    seed,
    kills: fleet.kills(),
    runs: runs.length,
    recipients: Object.fromEntries(states),
    ...service.figures,
    'requests accepted': service.accepted.size,
    lost: lost.length,
    twice,
    wrong: wrong.length,
    codes,
    seconds: Math.round((performance.now() - begun) / 1_000),
  });
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(lost).toEqual([]);
  expect(twice).toBe(0);
  expect(billed).toEqual(billingOf(service));
  expect(codes).toEqual([0, 0, 0, 0, 0]);
});

type Service = Awaited<ReturnType<typeof startReportingService>>;

type Scene = {
  readonly ledger: Ledger;
  readonly service: Service;
  readonly fleet: ReturnType<typeof startFleet>;
  readonly surroundings: { readonly cwd: string; readonly env: Record<string, string> };
  /** Starts a run, or returns the run that the same number started. */
  readonly startRun: (number: number) => Promise<string>;
};

async function openScene(cleanUp: AsyncDisposableStack): Promise<Scene> {
  const opened = cleanUp.adopt(await openTestLedger(), (it) => it.close());
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
    DATABASE_URL: opened.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    TOKEN: token,
    SERVICE_URL: service.url,
  };
  const surroundings = { cwd: workspace.folder, env };
  const key = await createToken(opened.context, {
    name: 'starter',
    owner: 'ann',
    scope: 'run',
    accounts: null,
    expiresAt: null,
  });
  const serves = ports.map((port, index) => ({
    name: `serve ${index}`,
    args: ['serve', '--port', String(port), '--api-port', String(apiPorts[index])],
    readyText: 'worker started',
  }));
  const workers = [1, 2, 3].map((index) => ({
    name: `worker ${index}`,
    args: ['worker', '--no-schedules'],
    readyText: 'worker started',
  }));
  const fleet = startFleet([...serves, ...workers], surroundings, minutes * 60_000, seed);
  const startRun = (number: number): Promise<string> => startRunBy(apiPorts, key, number);
  return { ledger: opened.ledger, service, fleet, surroundings, startRun };
}

/** Repeats one key at both APIs, which start one run. */
async function startRunBy(apiPorts: readonly number[], key: string, number: number): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(`http://127.0.0.1:${apiPorts[attempt % 2]}/api/v1/runs`, {
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

async function isCompleted({ surroundings }: Scene, run: string): Promise<boolean> {
  const { stdout } = await volleyInProcess(['status', run, '--json'], surroundings);
  return z.object({ state: z.string() }).parse(JSON.parse(stdout)).state === 'completed';
}

/** @returns all runs, which are completed */
async function sendUntilKillsEnd(scene: Scene, begun: number): Promise<readonly string[]> {
  const { fleet, service } = scene;
  let over = false;
  const killing = fleet.killed.finally(() => {
    over = true;
  });
  killing.catch(() => undefined);
  const runs: string[] = [];
  const underWay = new Set<string>();
  const dropCompleted = async (): Promise<void> => {
    for (const run of underWay) if (await isCompleted(scene, run)) underWay.delete(run);
  };
  let lastMinute = 0;
  while (!over) {
    await dropCompleted();
    while (underWay.size < atOnce && !over) {
      const run = await scene.startRun(runs.length);
      runs.push(run);
      underWay.add(run);
    }
    await sleep(1_000);
    const minute = Math.floor((performance.now() - begun) / 60_000);
    if (minute > lastMinute) {
      lastMinute = minute;
      process.stdout.write(
        `  ${minute} min: ${fleet.kills()} kills, ${runs.length} runs, ${service.accepted.size} requests accepted, ${service.figures.reports} delivery reports received\n`,
      );
    }
  }
  await killing;
  while (underWay.size > 0) {
    await dropCompleted();
    await sleep(500);
  }
  return runs;
}

/** Compares Volley's report of each run with what the service accepted. */
async function compareContacts({ service, surroundings }: Scene, runs: readonly string[]) {
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
      const accepted = service.recipients.get(id);
      seen.add(id);
      const expected = accepted ? [accepted.outcome] : ['rejected', 'failed', 'unknown'];
      if (!expected.includes(state)) wrong.push(`${run} ${id}: ${state}, expected ${expected.join(' or ')}`);
      if (accepted && !new Big(row['Volley Price'] ?? 0).eq(accepted.price))
        wrong.push(`${run} ${id}: price`);
    }
  }
  return { wrong, states, lost: [...service.recipients.keys()].filter((id) => !seen.has(id)) };
}

const byChargeCode = (one: { ChargeCode: string }, other: { ChargeCode: string }): number =>
  one.ChargeCode < other.ChargeCode ? -1 : 1;

async function readBilling({ surroundings }: Scene) {
  const args = ['billing', 'report', '--by', 'ChargeCode', '--json'];
  const { rows } = billing.parse(JSON.parse((await volleyInProcess(args, surroundings)).stdout));
  return rows
    .map(({ ChargeCode, accepted, delivered, undelivered, price }) => {
      return { ChargeCode, accepted, delivered, undelivered, price: new Big(price).toFixed(4) };
    })
    .toSorted(byChargeCode);
}

/** The billing report that follows from what the service accepted. */
function billingOf({ recipients }: Service) {
  return [...Map.groupBy(recipients.values(), ({ chargeCode }) => chargeCode)]
    .map(([ChargeCode, accepted]) => ({
      ChargeCode,
      accepted: accepted.length,
      delivered: accepted.filter(({ outcome }) => outcome === 'delivered').length,
      undelivered: accepted.filter(({ outcome }) => outcome === 'undelivered').length,
      price: accepted.reduce((sum, { price }) => sum.plus(price), new Big(0)).toFixed(4),
    }))
    .toSorted(byChargeCode);
}
