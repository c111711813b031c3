import { setTimeout as sleep } from 'node:timers/promises';
import { Big } from 'big.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createToken } from '../../src/engine/access/tokens.ts';
import type { Ledger } from '../../src/ledger/connection.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { textPeer } from '../gateway/test-peers.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { forwardUnchanged, refuseWith, resetAfterBody } from '../support/faults.ts';
import { freePort } from '../support/free-port.ts';
import { readJournal } from '../support/journal.ts';
import { openTestLedger } from '../support/ledger.ts';
import { volleyInProcess } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { startFleet } from './killed-fleet.ts';

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
  const { fleet, sandbox, ledger } = scene;
  const begun = performance.now();
  const runs = await sendUntilKillsEnd(scene, begun);
  while (sandbox.outstandingDeliveryReports() > 0) await sleep(200);
  while ((await ledger.pool.query('SELECT FROM inbox_waiting LIMIT 1')).rowCount !== 0) await sleep(200);

  const { accepted, recipients } = await readService(scene);
  const { wrong, states, lost } = await compareContacts(scene, recipients, runs);
  const twice = accepted.length - new Set(accepted).size;
  const billed = await readBilling(scene);
  const codes = await fleet.stop();

  console.log({
    minutes,
    seed,
    kills: fleet.kills(),
    runs: runs.length,
    recipients: Object.fromEntries(states),
    'requests accepted': accepted.length,
    'delivery reports': scene.reports.size,
    lost: lost.length,
    twice,
    wrong: wrong.length,
    codes,
    seconds: Math.round((performance.now() - begun) / 1_000),
  });
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(lost).toEqual([]);
  expect(twice).toBe(0);
  expect(billed).toEqual(billingOf(recipients));
  expect(codes).toEqual([0, 0, 0, 0, 0]);
});

/** What the service said of a recipient. */
type Reported = { readonly outcome: 'delivered' | 'undelivered'; readonly price: string };

type Recipient = Reported & { readonly chargeCode: string };

type Scene = {
  readonly ledger: Ledger;
  readonly sandbox: Sandbox;
  readonly journal: string;
  /** By MessageID and address. */
  readonly reports: ReadonlyMap<string, Reported>;
  readonly fleet: ReturnType<typeof startFleet>;
  readonly surroundings: { readonly cwd: string; readonly env: Record<string, string> };
  /** Starts a run, or returns the run that the same number started. */
  readonly startRun: (number: number) => Promise<string>;
};

const recipientKey = (messageId: string, address: string): string => `${messageId} ${address}`;
const addressOf = (key: string): string => key.split(' ')[1] ?? '';

const report = z.object({
  MessageID: z.string(),
  Destination: z.string(),
  Status: z.string(),
  Price: z.string(),
});

/**
 * Passes each delivery report on to one of the receivers, and keeps what it said. A fifth of those that were taken are
 * not acknowledged, so that the sandbox sends them again, to another receiver.
 */
async function startRelay(receivers: readonly string[]) {
  const reports = new Map<string, Reported>();
  let calls = 0;
  const peer = await textPeer(async (body, response) => {
    const { MessageID, Destination, Status, Price } = report.parse(JSON.parse(body));
    const key = recipientKey(MessageID, Destination);
    const receiver = receivers[calls++ % receivers.length] ?? '';
    const call = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
    const answer = await fetch(receiver, { ...call, signal: AbortSignal.timeout(5_000) }).catch(
      () => undefined,
    );
    const isTaken = answer?.ok === true;
    const isAgain = reports.has(key);
    if (isTaken)
      reports.set(key, { outcome: Status === 'Success' ? 'delivered' : 'undelivered', price: Price });
    const isAcknowledged = isTaken && (isAgain || seededRandom('acknowledged', seed, key) > 0.2);
    response.writeHead(isAcknowledged ? 200 : 503).end();
  });
  return { ...peer, reports };
}

const busy = refuseWith('503 Service Unavailable', '', ['Retry-After: 1']);
const reject = refuseWith('400 Bad Request', '{"Result":"Failed","ErrorMessage":["No"]}');

/** Loses the answer of one accepted request of a hundred, and refuses others. */
async function startFaultyWay(service: number): Promise<FaultProxy> {
  let requests = 0;
  return startFaultProxy(service, () => {
    const draw = seededRandom('fault', seed, requests++);
    if (draw < 0.01) return resetAfterBody;
    if (draw < 0.04) return busy;
    return draw < 0.06 ? reject : forwardUnchanged;
  });
}

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
  const relay = cleanUp.use(
    await startRelay(ports.map((port) => `http://127.0.0.1:${port}/webhook/main/${token}`)),
  );
  const journal = `${workspace.folder}/journal.jsonl`;
  const sandbox = cleanUp.adopt(
    await startSandbox({
      journal,
      webhook: { url: relay.url },
      latency: 40,
      failRate: 0.02,
      // Some of them are suppressed from then on.
      undeliveredRate: 0.02,
      deliveryDelay: 2_500,
      webhookRetry: 200,
    }),
    (it) => it.close(),
  );
  const faulty = cleanUp.adopt(await startFaultyWay(sandbox.port), (it) => it.stop());
  const env = {
    DATABASE_URL: opened.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    TOKEN: token,
    SERVICE_URL: faulty.url,
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
  const { reports } = relay;
  return { ledger: opened.ledger, sandbox, journal, reports, fleet, surroundings, startRun };
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
  const { fleet } = scene;
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
        `  ${minute} min: ${fleet.kills()} kills, ${runs.length} runs, ${scene.reports.size} recipients reported\n`,
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

/** The MessageIDs that the service accepted, and each recipient of theirs. */
async function readService({ journal, reports }: Scene) {
  const lines = (await readJournal(journal)).filter(({ status }) => status === 200);
  const recipients = lines.flatMap(({ messageId, recipients: addresses, message }) =>
    addresses.map((address): readonly [string, Recipient] => {
      const key = recipientKey(messageId ?? '', address);
      const reported = reports.get(key) ?? expect.fail(`nothing was reported of ${key}`);
      return [key, { ...reported, chargeCode: message?.fields['ChargeCode'] ?? '' }];
    }),
  );
  return { accepted: lines.map(({ messageId }) => messageId), recipients: new Map(recipients) };
}

type Recipients = ReadonlyMap<string, Recipient>;

/** Compares Volley's report of each run with what the service accepted. */
async function compareContacts({ surroundings }: Scene, recipients: Recipients, runs: readonly string[]) {
  const undelivered = new Set(
    [...recipients].filter(([, { outcome }]) => outcome === 'undelivered').map(([id]) => addressOf(id)),
  );
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
      const accepted = recipients.get(id);
      seen.add(id);
      const mayBeSuppressed = undelivered.has(addressOf(id));
      const expected = accepted
        ? [accepted.outcome]
        : ['rejected', 'failed', 'unknown', ...(mayBeSuppressed ? ['suppressed'] : [])];
      if (!expected.includes(state)) wrong.push(`${run} ${id}: ${state}, expected ${expected.join(' or ')}`);
      if (accepted && !new Big(row['Volley Price'] ?? 0).eq(accepted.price))
        wrong.push(`${run} ${id}: price`);
    }
  }
  return { wrong, states, lost: [...recipients.keys()].filter((id) => !seen.has(id)) };
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
function billingOf(recipients: Recipients) {
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
