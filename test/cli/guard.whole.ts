import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { RunStatus } from '../../src/engine/reporting/run-status.ts';
import { freePort } from '../support/free-port.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { startVolley, volleyInProcess } from '../support/volley.ts';
import { accountsYaml } from '../support/workspace.ts';

const token = 'webhook-token-of-22-characters-or-more';

const scene = useLedgerScene({
  'accounts.yaml': `${accountsYaml}    rates: [{ channel: sms, unit: part, price: 0.08, currency: AUD }]\n`,
});

type Parts = { readonly name: string; readonly guard: string; readonly recipients: number };

/** A tenth of the numbers begins with +61412, in no order. */
async function writeCampaign({ name, guard, recipients }: Parts): Promise<void> {
  const rows = Array.from({ length: recipients }, (_, index) => {
    const place = (index * 7919) % 10 === 0 ? '0412' : `04${20 + ((index * 31) % 8)}`;
    return `${place}${String(index).padStart(6, '0')}`;
  });
  await scene.workspace.write(`${name}.csv`, `${['mobile', ...rows].join('\n')}\n`);
  await scene.workspace.write(
    `${name}.yaml`,
    `campaign: night
account: sandbox
channel: sms
contacts: { file: ${name}.csv, country: AU, columns: { Recipient: mobile } }
message: { Message: Hello }
dispatch: { chunkSize: 5, concurrency: 4, repeat: allow }
guard: ${guard}
`,
  );
}

type Service = { readonly env: Readonly<Record<string, string>> };

/** Starts \`volley serve\` and a sandbox that reports to it, each as a process. */
async function startService(...sandboxOptions: readonly string[]): Promise<Service> {
  const [sandboxPort, hookPort] = [await freePort(), await freePort()];
  const { folder: cwd } = scene.workspace;
  const env = {
    DATABASE_URL: scene.opened.url,
    VOLLEY_HOME: `${cwd}/.volley`,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: `http://127.0.0.1:${sandboxPort}`,
    VOLLEY_SANDBOX_TOKEN: 'any',
    VOLLEY_WEBHOOK_TOKEN: token,
    LOG_LEVEL: 'silent',
  };
  const hook = `http://127.0.0.1:${hookPort}/webhook/sandbox/${token}`;
  const sandbox = startVolley(
    ['sandbox', '--port', String(sandboxPort), '--webhook-url', hook, '--seed', '7', ...sandboxOptions],
    { cwd, env },
  );
  const serve = startVolley(
    ['serve', '--port', String(hookPort), '--no-api', '--no-worker', '--no-schedules'],
    {
      cwd,
      env,
    },
  );
  onTestFinished(async () => {
    for (const { process, ended } of [sandbox, serve]) {
      process.kill('SIGTERM');
      await ended;
    }
  });
  await Promise.all([
    sandbox.waitForText('Sandbox listens'),
    serve.waitForText('Delivery reports of account'),
  ]);
  return { env };
}

const volley = ({ env }: Service, ...words: readonly string[]) =>
  volleyInProcess(words, { cwd: scene.workspace.folder, env });

const limit = async (service: Service, recipients: number) => {
  const { code, stderr } = await volley(
    service,
    'account',
    'limits',
    'sandbox',
    '--recipients-per-second',
    String(recipients),
  );
  expect(code, stderr).toBe(0);
};

/** Runs the campaign as a process. */
async function run(
  service: Service,
  name: string,
): Promise<{ readonly code: number | null; readonly status: RunStatus }> {
  const { code, stdout, stderr } = await startVolley(['run', `${name}.yaml`, '--json', '--again'], {
    cwd: scene.workspace.folder,
    env: service.env,
  }).ended;
  expect(stdout, stderr).not.toBe('');
  const status = await volley(service, 'status', JSON.parse(stdout).run, '--json');
  return { code, status: JSON.parse(status.stdout) };
}

const reported = async (service: Service, recipients: number) => {
  for (;;) {
    const { stdout } = await volley(service, 'status', 'latest', '--json');
    const counts: RunStatus['recipients'] = JSON.parse(stdout).recipients;
    if (counts.delivered + counts.undelivered >= recipients) return;
    await sleep(200);
  }
};

test('a run whose delivery falls from 98 % to 60 % at one destination is paused before 2 % of it is sent', async () => {
  const guard = 'pause';
  await writeCampaign({ name: 'former', guard, recipients: 4_000 });
  await writeCampaign({ name: 'large', guard, recipients: 100_000 });
  {
    const service = await startService('--undelivered-rate', '0.02');
    const former = await run(service, 'former');
    expect([former.code, former.status.state]).toEqual([0, 'completed']);
    await reported(service, 4_000);
    const plan = await volley(service, 'plan', 'large.yaml');
    expect(plan.stdout).toMatch(
      / {2}guard {7}the run pauses when significantly more recipients are undelivered, /,
    );
    expect(plan.stdout).toMatch(
      / {2}usual {7}[123](\.\d)?% undelivered in the last run of the campaign; \+614\d\d \d/,
    );
  }
  const service = await startService('--undelivered-rate', '0.02', '--undelivered-at', '+61412=0.4');
  await limit(service, 150);
  const { code, status } = await run(service, 'large');
  const { recipients, reason, decisions, waitsFor } = status;
  expect([code, status.state]).toEqual([4, 'paused']);
  expect(reason).toMatch(
    /^\d+ of \d+ recipients at \+61412 are undelivered \(\d+(\.\d)?%\), and [123](\.\d)?% in the former runs of the campaign; the guard allows \d+(\.\d)?% \(CUSUM, error rate 1%\)$/,
  );
  expect(recipients.total - recipients.pending).toBeLessThan(2_000);
  expect(waitsFor).toMatchObject([{ kind: 'resume' }]);
  expect(decisions).toMatchObject([
    {
      kind: 'guard stopped',
      byUser: null,
      record: { reason: { kind: 'guard_undelivered', destination: '+61412', basis: 'campaign' } },
    },
  ]);
  expect(decisions[0]?.why).toContain('CUSUM of likelihood ratios');

  // The same evidence does not stop it again; what comes after the resume does.
  const before = recipients.pending;
  const resumed = await volley(service, 'resume', status.run, '--json');
  expect(resumed.code).toBe(4);
  const again: RunStatus = JSON.parse((await volley(service, 'status', status.run, '--json')).stdout);
  expect(again.recipients.pending).toBeLessThan(before);
  expect(again.decisions.map(({ kind }) => kind)).toEqual(['guard stopped', 'guard stopped']);
});

test('a run whose delivery reports stop is paused', async () => {
  await writeCampaign({ name: 'silent', guard: '{ silence: 3s }', recipients: 3_000 });
  const service = await startService('--delivery-delay', '1h');
  await limit(service, 100);
  const { code, status } = await run(service, 'silent');
  expect([code, status.state]).toEqual([4, 'paused']);
  expect(status.reason).toMatch(
    /^no delivery report has come for 3s, although \d+ recipients were accepted before \(guard\)$/,
  );
  expect(status.decisions).toMatchObject([{ kind: 'guard stopped', record: { test: null } }]);
  expect(status.recipients.pending).toBeGreaterThan(1_000);
});

test('a guard that only warns records it and notifies once, and the run goes on', async () => {
  const notified: { readonly type: string; readonly data: { readonly reason: string } }[] = [];
  const target = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    notified.push(JSON.parse(Buffer.concat(pieces).toString()));
    response.end();
  });
  const port = await freePort();
  target.listen(port, '127.0.0.1');
  onTestFinished(() => void target.close());
  const notify = `notify: [{ on: [paused], webhook: { url: "http://127.0.0.1:${port}/", secret: "\${NOTIFY_KEY}" } }]`;
  await writeCampaign({
    name: 'warned',
    guard: `{ undelivered: { above: 5%, or: usual }, action: warn }\n${notify}`,
    recipients: 2_000,
  });
  const started = await startService('--undelivered-rate', '0.3');
  const key = { NOTIFY_KEY: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
  const service = { env: { ...started.env, ...key } };
  await limit(service, 150);
  const { code, status } = await run(service, 'warned');
  expect([code, status.state]).toEqual([0, 'completed']);
  expect(status.decisions).toMatchObject([{ kind: 'guard warned', byUser: null }]);
  await expect.poll(() => notified, { timeout: 10_000 }).toHaveLength(1);
  expect(notified).toMatchObject([
    { type: 'run.warned', data: { reason: expect.stringContaining('are undelivered (') } },
  ]);
});
