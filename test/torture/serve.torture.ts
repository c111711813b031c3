import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createToken } from '../../src/engine/access/tokens.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { freePort } from '../support/free-port.ts';
import { slopeOf } from '../support/least-squares.ts';
import { openTestLedger } from '../support/ledger.ts';
import { readMetrics } from '../support/metrics.ts';
import { webhookNotify } from '../support/notify-scene.ts';
import { startVolley } from '../support/volley.ts';
import { startWebhookPeer, webhookSecret } from '../support/webhook-peer.ts';
import { contactsCsv, makeWorkspace } from '../support/workspace.ts';

const minutes = Number(process.env['VOLLEY_TORTURE_MINUTES'] ?? 12);
/** Minutes until caches and pools have their final size. */
const warmUp = Math.min(5, minutes / 3);
/** MiB. Resident memory also grows by what V8 has not collected and the allocator has not given back, so it has a limit only. */
const maxRss = 400;
const requestsPerSecond = 60;
const token = 'a-token-of-at-least-22-characters';

const account = (limits: string) => `
    interface: rest-2.02
    baseUrl: \${VOLLEY_SANDBOX_URL}
    authToken: \${VOLLEY_SANDBOX_TOKEN}
    webhookToken: \${VOLLEY_WEBHOOK_TOKEN}
    limits: ${limits}
`;
const accounts = `
accounts:
  bulk: ${account(`{ concurrency: 8, requestsPerSecond: ${requestsPerSecond} }`)}
  small: ${account('{ concurrency: 4 }')}
`;

const campaign = (name: string, schedule: string) => `
campaign: ${name}
account: ${name}
channel: sms
contacts: { file: ${name}.csv, country: AU, columns: { Recipient: mobile } }
message: { Message: "Hello [[name]]", ChargeCode: "[[code]]" }
dispatch: { chunkSize: 1 }
schedule: { timeZone: UTC, ${schedule} }
notify:
${webhookNotify()}`;

type Sample = {
  readonly minute: number;
  readonly rss: number;
  readonly files: number;
};

test(`serve under load for ${minutes} minutes keeps less than half a MiB a minute, stays below ${maxRss} MiB and leaks no file handle`, async () => {
  await using cleanUp = new AsyncDisposableStack();
  const { serve, url, peer, callApi } = await openScene(cleanUp);
  const begun = Date.now();
  const samples: Sample[] = [];
  /** Minutes. */
  const collectedAt: number[] = [];
  let apiCalls = 0;
  let figures: ReadonlyMap<string, number> = new Map();
  const figure = (name: string): number => figures.get(name) ?? 0;
  while (Date.now() - begun < minutes * 60_000) {
    await sleep(1_000);
    figures = await readMetrics(url);
    await fetch(`${url}/readyz`).then((answer) => answer.text());
    apiCalls += await callApi();
    // A collection each second would hide what is usual.
    if (samples.length % 30 === 0) {
      serve.process.kill('SIGUSR2');
      collectedAt.push((Date.now() - begun) / 60_000);
    }
    samples.push({
      minute: (Date.now() - begun) / 60_000,
      rss: figure('process_resident_memory_bytes') / 1024 ** 2,
      files: figure('process_open_fds'),
    });
  }
  serve.process.kill('SIGTERM');
  const { code, stderr } = await serve.ended;

  const warm = samples.filter(({ minute }) => minute >= warmUp);
  const heaps = [...serve.stderrSoFar().matchAll(/^live heap: (\d+)$/gm)].map(([, bytes], index) => ({
    x: collectedAt[index] ?? minutes,
    y: Number(bytes) / 1024 ** 2,
  }));
  const heap = slopeOf(heaps.filter(({ x }) => x >= warmUp));
  const max = (some: readonly Sample[]): number => Math.max(...some.map(({ files }) => files));
  const third = Math.floor(warm.length / 3);
  const [filesBefore, filesAfter] = [max(warm.slice(0, third)), max(warm.slice(-third))];
  console.log({
    'live heap, MiB a minute': heap,
    'live heap, MiB': heaps.map(({ y }) => Math.round(y)).join(' '),
    'RSS at the end, MiB': samples.at(-1)?.rss,
    'RSS each minute, MiB': perMinute(samples),
    filesBefore,
    filesAfter,
    accepted: figure('volley_requests_settled_total{account="bulk",state="accepted"}'),
    'accepted by schedule': figure('volley_requests_settled_total{account="small",state="accepted"}'),
    reports: figure('volley_delivery_reports_stored_total{account="bulk"}'),
    applied: figure('volley_delivery_reports_applied_total'),
    'API calls': apiCalls,
    notifications: peer.calls.length,
  });
  expect(code, stderr.slice(-2_000)).toBe(0);
  // There was a load.
  expect(figure('volley_requests_settled_total{account="bulk",state="accepted"}')).toBeGreaterThan(
    ((minutes - 2) * 60 * requestsPerSecond) / 2,
  );
  expect(figure('volley_delivery_reports_applied_total')).toBeGreaterThan(0);
  expect(peer.calls.length).toBeGreaterThan(0);
  expect(heaps.length).toBeGreaterThan(minutes / 2);
  expect(heap).toBeLessThan(0.5);
  expect(Math.max(...warm.map(({ rss }) => rss))).toBeLessThan(maxRss);
  expect(filesAfter).toBeLessThanOrEqual(filesBefore + 5);
});

async function openScene(cleanUp: AsyncDisposableStack) {
  const ledger = cleanUp.adopt(await openTestLedger(), (it) => it.close());
  const soon = new Date(Date.now() + 60_000).toISOString().slice(0, 16);
  const workspace = cleanUp.use(
    await makeWorkspace({
      'accounts.yaml': accounts,
      'campaigns/bulk.yaml': campaign('bulk', `at: [${soon}], catchUp: 1h`),
      'campaigns/bulk.csv': contactsCsv((minutes + 1) * 60 * requestsPerSecond),
      'campaigns/small.yaml': campaign('small', 'cron: "* * * * *", overlap: queue'),
      'campaigns/small.csv': contactsCsv(600),
    }),
  );
  const peer = cleanUp.use(await startWebhookPeer());
  const reader = await createToken(ledger.context, {
    name: 'reader',
    owner: 'ann',
    scope: 'read',
    accounts: null,
    expiresAt: null,
  });
  const [port, apiPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const webhook = { url: `${url}/webhook/bulk/${token}` };
  const options = { webhook, latency: 20, deliveryDelay: 500, failRate: 0.01, webhookRetry: 5_000 };
  const sandbox = cleanUp.adopt(await startSandbox(options), (it) => it.close());
  const serve = startVolley(['serve', '--port', String(port), '--api-port', String(apiPort)], {
    cwd: workspace.folder,
    nodeFlags: ['--import', import.meta.resolve('../support/live-heap-preload.ts')],
    env: {
      DATABASE_URL: ledger.url,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_WEBHOOK_TOKEN: token,
      VOLLEY_SANDBOX_URL: sandbox.url,
      VOLLEY_SANDBOX_TOKEN: 'any',
      NOTIFY_URL: peer.url,
      NOTIFY_SECRET: webhookSecret,
    },
  });
  await serve.waitForText('worker started');
  return { serve, url, peer, callApi: () => callApi(apiPort, reader) };
}

const pages = ['runs?limit=20', 'schedules', 'reports/billing?format=json', 'nothing'];

/** Reads pages of the API to their ends. @returns how many */
async function callApi(port: number, bearer: string): Promise<number> {
  const headers = { authorization: `Bearer ${bearer}` };
  for (const page of pages) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${page}`, { headers });
    await answer.arrayBuffer();
    expect(answer.status, page).toBe(page === 'nothing' ? 404 : 200);
  }
  return pages.length;
}

/** Maximum of each minute. */
function perMinute(samples: readonly Sample[]): number[] {
  const highest: number[] = [];
  for (const { minute, rss } of samples) {
    const index = Math.floor(minute);
    highest[index] = Math.max(highest[index] ?? 0, Math.round(rss));
  }
  return highest;
}
