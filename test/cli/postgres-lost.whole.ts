import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { embeddedServerStatus } from '../../src/platform/embedded-postgres.ts';
import { signalPreload } from '../support/dispatch-scene.ts';
import { copyHome, makeHome, removeHome } from '../support/embedded-home.ts';
import { openTestLedger } from '../support/ledger.ts';
import { killServer } from '../support/own-postgres.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { type SendPeer, sendPeer } from '../support/send-peer.ts';
import { type SignalAtPoint, signalMessage, signalVariable } from '../support/signal-points.ts';
import {
  type Ended,
  maxStopMilliseconds,
  type Started,
  startVolley,
  volleyInProcess,
} from '../support/volley.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

const requests = 150;

async function openScene(
  database: Readonly<Record<string, string>>,
  onTestFinished: (cleanUp: () => Promise<void>) => void,
) {
  const service = await sendPeer(async () => {
    await sleep(20);
    return { kind: 'accepted' };
  });
  const workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'contacts.csv': contactsCsv(requests),
    'campaign.yaml': smsCampaignYaml,
  });
  onTestFinished(async () => {
    await service[Symbol.asyncDispose]();
    await workspace[Symbol.asyncDispose]();
  });
  const cwd = workspace.folder;
  const env = {
    ...database,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: service.url,
    VOLLEY_SANDBOX_TOKEN: 'any',
    VOLLEY_WEBHOOK_TOKEN: 'any',
  };
  const start = (words: readonly string[], at?: SignalAtPoint): Started =>
    startVolley(words, {
      cwd,
      nodeFlags: at ? ['--import', signalPreload] : [],
      env: { ...env, ...(at && { [signalVariable]: JSON.stringify(at) }) },
    });
  /** Runs a command in this process, because it ends by itself. */
  const here = (words: readonly string[]): Promise<Ended> =>
    volleyInProcess(words, { cwd, env: { ...env, LOG_LEVEL: 'silent' } });
  return { service, start, here };
}

async function hasReceived(service: SendPeer, calls: number): Promise<void> {
  while (service.calls.length < calls) await sleep(5);
}

const occurrencesIn = (text: string, output: string): number => output.split(text).length - 1;

test('a run restarts a killed embedded server, says so, and continues', async () => {
  const home = makeHome('volley-test-home-');
  onTestFinished(() => removeHome(home));
  copyHome(inject('initialHome'), home);
  const { service, start } = await openScene({ VOLLEY_HOME: home }, onTestFinished);
  const started = start(['run', 'campaign.yaml', '--json']);
  await hasReceived(service, 40);
  await killServer(home);
  const { code, stdout, stderr } = await started.ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining('database outage')]);
  expect(occurrencesIn('A new, empty ledger was made', stderr)).toBe(1);
  expect(occurrencesIn('waiting  database outage', stderr)).toBe(1);
  expect(occurrencesIn('the database outage is over', stderr)).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ state: 'completed', requests: { accepted: requests } });
  expect(new Set(service.accepted().map(({ messageId }) => messageId)).size).toBe(requests);
  expect(service.accepted()).toHaveLength(requests);
  expect(embeddedServerStatus(home)).toMatchObject({ state: 'stopped', leases: [] });
});

const ways = [
  ['connections are lost', 'stop'],
  ['Postgres does not answer', 'hang'],
] as const;

describe.concurrent('Ctrl-C during a database outage', () => {
  test('Ctrl-C after all of a run was recorded ends with the exit code of the run and a note', {
    timeout: 60_000,
  }, async ({ expect, onTestFinished }) => {
    const ledger = await openTestLedger();
    onTestFinished(() => ledger.close());
    const proxy = await startPostgresProxy(ledger.url);
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    const { start } = await openScene({ DATABASE_URL: proxy.url }, onTestFinished);
    const atRest = { signal: 'SIGSTOP', point: 'at rest', occurrence: 1 } as const;
    const started = start(['run', 'campaign.yaml'], atRest);
    await started.waitForText(signalMessage);
    proxy.stop();
    const continuing = setInterval(() => started.process.kill('SIGCONT'), 100);
    await started.waitForText('database outage');
    started.process.kill('SIGINT');
    const { code, stderr } = await started.ended;
    clearInterval(continuing);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`it is completed (${requests} requests, 0 of them not accepted)`),
    ]);
    expect(stderr).not.toContain('in doubt');
  });

  test.for(ways)(
    'Ctrl-C ends with exit code 130 within ten seconds when %s, and unrecorded requests are in doubt',
    { timeout: 60_000 },
    async ([_, how], { expect, onTestFinished }) => {
      const ledger = await openTestLedger();
      onTestFinished(() => ledger.close());
      const proxy = await startPostgresProxy(ledger.url);
      onTestFinished(() => proxy[Symbol.asyncDispose]());
      const { service, start, here } = await openScene({ DATABASE_URL: proxy.url }, onTestFinished);
      const started = start(['run', 'campaign.yaml']);
      await hasReceived(service, 40);
      proxy[how]();
      await sleep(500);
      const askedAt = performance.now();
      started.process.kill('SIGINT');
      const { code, stderr } = await started.ended;
      expect(performance.now() - askedAt).toBeLessThan(await maxStopMilliseconds());
      expect(code, stderr).toBe(130);
      expect(occurrencesIn('waiting  database outage', stderr), stderr).toBe(1);
      const [, run = ''] = /volley resume (\S+)`/.exec(stderr) ?? expect.fail(stderr);

      proxy.stop();
      await proxy.listen();
      const unrecorded = await ledger.ledger.pool.query<{ message_id: string }>(
        `SELECT message_id FROM request_states WHERE run_id = $1 AND state = 'sending' ORDER BY request`,
        [run],
      );
      const sentBefore = service.accepted().map(({ messageId }) => messageId);
      const resumed = await here(['resume', run, '--json']);
      expect(resumed.code, resumed.stderr).toBe(3);
      const { rows } = await ledger.ledger.pool.query<{ message_id: string }>(
        `SELECT message_id FROM request_states WHERE run_id = $1 AND state = 'in_doubt' ORDER BY request`,
        [run],
      );
      expect(rows).toEqual(unrecorded.rows);
      expect(JSON.parse(resumed.stdout)).toMatchObject({
        state: 'completed',
        requests: { planned: 0, sending: 0, in_doubt: rows.length, accepted: requests - rows.length },
      });
      const inDoubt = new Set(rows.map(({ message_id }) => message_id));
      expect(sentBefore.some((messageId) => inDoubt.has(messageId))).toBe(true);
      const accepted = service.accepted().map(({ messageId }) => messageId);
      expect(new Set(accepted).size).toBe(accepted.length);
    },
  );
});
