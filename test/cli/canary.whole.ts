import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canaryScene } from '../support/canary-scene.ts';
import { openLedgerIn, openTestLedger } from '../support/ledger.ts';
import { backUpLedger } from '../support/ledger-backup.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';

const canarySize = 30;
const rest = 90;

/** Reports are waited for as long as a test runs. */
const patient = `canary: { recipients: ${canarySize}, observe: 1h }`;

async function openScene(canary: string, ledger = openTestLedger()) {
  const scene = await canaryScene({ canary, recipients: canarySize + rest, ledger });
  onTestFinished(() => scene[Symbol.asyncDispose]());
  return scene;
}

test('a run waits for the delivery reports of its canary, and then sends the rest', async () => {
  const scene = await openScene(patient);
  const started = scene.start(['run', 'campaign.yaml', '--json']);
  await scene.hasReceived(canarySize);
  await scene.report(20);
  await expect
    .poll(() => scene.status(), { timeout: 20_000 })
    .toMatchObject({
      state: 'running',
      waitsFor: [{ kind: 'canary', reported: 20, recipients: canarySize }],
      decisions: [],
    });
  const { stdout } = await scene.here(['status', 'latest']);
  expect(stdout).toMatch(
    /waits {7}Its canary is sent, and observed since .*: 20 of 30 delivery reports are in\./,
  );
  expect((await scene.here(['runs'])).stdout).toContain('its canary is observed');
  await sleep(2_500);
  expect(scene.service.calls).toHaveLength(canarySize);
  await scene.report(canarySize);
  const { code, stdout: summary, stderr } = await started.ended;
  expect([code, JSON.parse(summary).requests.accepted], stderr).toEqual([0, canarySize + rest]);
  expect(stderr).toContain('delivery reports');
  scene.expectEachOnce(canarySize + rest);
  const { decisions } = await scene.status();
  expect(decisions).toMatchObject([
    { kind: 'canary promoted', byUser: null, record: { cause: 'all reports' } },
  ]);
});

test('a canary whose messages are not delivered pauses the run early, and a person promotes it', async () => {
  const scene = await openScene(patient);
  const started = scene.start(['run', 'campaign.yaml', '--json']);
  await scene.hasReceived(canarySize);
  await scene.report(12, 'undelivered');
  const { code, stderr } = await started.ended;
  expect(code, stderr).toBe(4);
  const status = await scene.status();
  expect(status).toMatchObject({
    state: 'paused',
    reason: 'of its canary, 12 of 12 recipients are undelivered, more than 10%',
    waitsFor: [{ kind: 'promotion' }],
    decisions: [{ kind: 'canary aborted', byUser: null, record: { cause: 'evidence' } }],
  });
  const resumed = await scene.here(['resume', status.run]);
  expect(resumed.code, resumed.stderr).toBe(4);
  expect(scene.service.calls).toHaveLength(canarySize);
  expect((await scene.status()).decisions).toHaveLength(2);

  expect((await scene.here(['promote', status.run])).code).toBe(2);
  const promoted = await scene.here(['promote', status.run, '--reason', 'only old numbers']);
  expect([promoted.code, promoted.stdout], promoted.stderr).toEqual([
    0,
    `Run ${status.run} is promoted. Workers send the rest; if none runs, \`volley resume ${status.run}\` does.\n`,
  ]);
  expect((await scene.here(['resume', status.run])).code).toBe(0);
  scene.expectEachOnce(canarySize + rest);
  const after = await scene.status();
  expect(after.decisions.at(-1)).toMatchObject({
    kind: 'canary promoted',
    byUser: 'tester@here',
    reason: 'only old numbers',
    record: { cause: 'operator' },
  });
  const audit = await scene.here(['audit', '--json', '--run', status.run]);
  expect(audit.stdout).toContain('"run promoted"');
  const again = await scene.here(['promote', status.run, '--reason', 'twice']);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('there is nothing left to send')]);
});

test('with promote: manual, a run whose canary is within its limits is paused until a person promotes it', async () => {
  const scene = await openScene(`canary: { recipients: ${canarySize}, promote: manual }`);
  const started = scene.start(['run', 'campaign.yaml']);
  await scene.hasReceived(canarySize);
  await scene.report(canarySize);
  const { code, stderr } = await started.ended;
  expect(code, stderr).toBe(4);
  const status = await scene.status();
  expect(status).toMatchObject({
    reason: 'its canary is within its limits, and a person is to promote the run',
    waitsFor: [{ kind: 'promotion' }],
    decisions: [{ kind: 'canary waits' }],
  });
  expect((await scene.here(['doctor'])).stdout).toContain(`volley promote ${status.run}`);
  expect((await scene.here(['promote', status.run, '--reason', 'seen'])).code).toBe(0);
  expect((await scene.here(['resume', status.run])).code).toBe(0);
  scene.expectEachOnce(canarySize + rest);
});

test('a run whose canary would be all of it says so, because nothing waits', async () => {
  const scene = await openScene(`canary: { recipients: ${canarySize + rest}, promote: manual }`);
  const { code, stderr } = await scene.here(['run', 'campaign.yaml']);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(
    / {2}warning {5}campaign\.yaml:\d+:\d+: the canary would be all 120 recipients, so nothing waits/,
  );
  scene.expectEachOnce(canarySize + rest);
});

test('missing reports pause the run when the time is over', async () => {
  const scene = await openScene(`canary: { recipients: ${canarySize}, observe: 3s }`);
  const { code, stderr } = await scene.here(['run', 'campaign.yaml']);
  expect(code, stderr).toBe(4);
  expect(scene.service.calls).toHaveLength(canarySize);
  expect((await scene.status()).decisions).toMatchObject([
    { kind: 'canary aborted', record: { cause: 'time' } },
  ]);
});

describe('while a canary is observed', () => {
  test('two engines and killed workers promote the run once, and send nothing of the rest before', async () => {
    const scene = await openScene(patient);
    const first = scene.start(['worker']);
    const second = scene.start(['worker']);
    expect((await scene.here(['plan', 'campaign.yaml'])).stdout).toContain(
      `canary      ${canarySize} of ${canarySize + rest} recipients go first`,
    );
    const run = await scene.plan();
    await scene.hasReceived(canarySize);
    first.process.kill('SIGKILL');
    const third = scene.start(['worker']);
    await sleep(3_000);
    second.process.kill('SIGKILL');
    const fourth = scene.start(['worker']);
    await sleep(3_000);
    expect(scene.service.calls).toHaveLength(canarySize);
    await scene.report(canarySize);
    await expect.poll(() => scene.status(run), { timeout: 40_000 }).toMatchObject({ state: 'completed' });
    scene.expectEachOnce(canarySize + rest);
    expect((await scene.status(run)).decisions).toMatchObject([{ kind: 'canary promoted' }]);
    third.process.kill('SIGTERM');
    fourth.process.kill('SIGTERM');
    await Promise.all([first.ended, second.ended, third.ended, fourth.ended]);
  });

  test('a restart of Postgres neither ends the observation nor promotes the run twice', async () => {
    const server = await startOwnPostgres();
    onTestFinished(() => server[Symbol.asyncDispose]());
    const url = await server.createDatabase();
    const scene = await openScene(
      patient,
      openLedgerIn({ connection: { connectionString: url }, url, drop: async () => undefined }),
    );
    const started = scene.start(['run', 'campaign.yaml']);
    await scene.hasReceived(canarySize);
    await sleep(2_000);
    await server.kill();
    await sleep(1_000);
    await server.start();
    await server.isReady();
    await sleep(3_000);
    expect(scene.service.calls).toHaveLength(canarySize);
    await scene.report(canarySize);
    const { code, stderr } = await started.ended;
    expect(code, stderr).toBe(0);
    scene.expectEachOnce(canarySize + rest);
    expect((await scene.status()).decisions).toMatchObject([{ kind: 'canary promoted' }]);
  });

  test('a ledger that is restored to that moment sends each message at most once, and nothing of the rest', async () => {
    const ledger = await openTestLedger();
    const scene = await openScene(patient, Promise.resolve(ledger));
    const started = scene.start(['run', 'campaign.yaml']);
    await scene.hasReceived(canarySize);
    await expect
      .poll(() => scene.status(), { timeout: 20_000 })
      .toMatchObject({ requests: { accepted: canarySize }, waitsFor: [{ kind: 'canary' }] });
    const { run } = await scene.status();
    const backup = await backUpLedger(ledger.url);
    const since = new Date();
    await scene.report(canarySize);
    await scene.hasReceived(canarySize + 20);
    started.process.kill('SIGKILL');
    await started.ended;
    const sent = scene.service.calls.length;
    await backup.restore();

    const refused = await scene.here(['resume', run]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('volley db restored --since TIME'),
    ]);
    const time = `${since.toISOString().slice(0, 19)}Z`;
    const words = ['db', 'restored', '--since', time, '--reason', 'the disk was lost'];
    expect((await scene.here(words)).code).toBe(0);
    // What another copy of the ledger may have sent is in doubt, and the canary is observed anew.
    const resumed = scene.start(['resume', run]);
    await expect
      .poll(() => scene.status(), { timeout: 20_000 })
      .toMatchObject({
        requests: { planned: 0, accepted: canarySize, in_doubt: rest },
        waitsFor: [{ kind: 'canary' }, { kind: 'doubts', requests: rest }],
      });
    await sleep(2_500);
    resumed.process.kill('SIGTERM');
    await resumed.ended;
    expect(scene.service.calls).toHaveLength(sent);
    const sentTo = scene.service.accepted().flatMap((call) => call.recipients);
    expect(new Set(sentTo).size).toBe(sentTo.length);
  });

  test('a pause and a resume observe it anew, and a cancelled run never sends the rest', async () => {
    const scene = await openScene(patient);
    const started = scene.start(['run', 'campaign.yaml']);
    await scene.hasReceived(canarySize);
    const { run } = await scene.status();
    expect((await scene.here(['pause', run])).code).toBe(0);
    expect((await started.ended).code).toBe(4);
    const refused = await scene.here(['promote', run, '--reason', 'now']);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('The run is paused for another reason.'),
    ]);
    const resumed = scene.start(['resume', run]);
    await expect
      .poll(() => scene.status(), { timeout: 20_000 })
      .toMatchObject({
        waitsFor: [{ kind: 'canary' }],
      });
    expect((await scene.here(['cancel', run])).code).toBe(0);
    expect((await resumed.ended).code).toBe(4);
    await scene.report(canarySize);
    expect(scene.service.calls).toHaveLength(canarySize);
    expect(await scene.status()).toMatchObject({ state: 'cancelled', decisions: [] });
    expect((await scene.status()).requests).toMatchObject({ accepted: canarySize, cancelled: rest });
  });
});
