import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beginRun } from '../../src/ledger/runs/begin.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { type Ended, startVolley, tester } from '../support/volley.ts';
import { accountEnvironment, contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({ 'contacts.csv': contactsCsv(4) });

const volley = (...words: string[]): Promise<Ended> => as(tester, ...words);

const as = (user: string, ...words: string[]): Promise<Ended> => scene.command(words, { user });

const write = (approval: string): Promise<void> =>
  scene.write('campaign.yaml', `${smsCampaignYaml}approval: ${approval}\n`);

async function waiting(): Promise<string> {
  const { code, stdout, stderr } = await volley('run', 'campaign.yaml', '--json');
  expect({ code, stderr }).toEqual({
    code: 4,
    stderr: expect.stringContaining('waits for approval by another person'),
  });
  return JSON.parse(stdout).run;
}

const sent = async (): Promise<number> => (await scene.journal()).length;

test('nothing of a run is sent until another person approves it, and then all of it is sent', async () => {
  await write('required');
  const run = await waiting();
  expect(await volley('resume', run)).toMatchObject({ code: 4 });
  expect(await sent()).toBe(0);
  expect(await volley('approve', run)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Another person must approve it'),
  });
  expect(await as('bob@desk', 'approve', run)).toMatchObject({ code: 0 });
  expect(await volley('resume', run)).toMatchObject({ code: 0 });
  expect(await sent()).toBe(4);
  expect(await as('eve@desk', 'approve', run)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It was approved by bob@desk already.'),
  });
});

test('a worker that looks for requests skips a run that waits for approval', async () => {
  await write('required');
  const run = await waiting();
  await scene.write('other.yaml', smsCampaignYaml);
  expect(await volley('run', 'other.yaml')).toMatchObject({ code: 0 });
  expect(await sent()).toBe(4);
  const { rows } = await scene.ledger.pool.query('SELECT state FROM runs WHERE run_id = $1', [run]);
  expect(rows).toEqual([{ state: 'planned' }]);
});

test('the ledger refuses to start a run that waits for approval', async () => {
  await write('required');
  const run = await waiting();
  const { pool, queue } = scene.ledger;
  const plan = {
    run,
    account: 'sandbox',
    maxAccountSlices: 1,
    maxRunSlices: 1,
    firstAlone: false,
    priority: 'normal' as const,
  };
  const begun = await beginRun(await queue(), pool, {
    plan,
    policy: { lookUp: false, resends: 0 },
    now: new Date(),
  });
  expect(begun).toBe('unapproved');
  const { rows } = await pool.query('SELECT state, state_reason FROM runs WHERE run_id = $1', [run]);
  expect(rows).toEqual([
    { state: 'planned', state_reason: { kind: 'waits_for_approval', why: { kind: 'every_run' } } },
  ]);
});

test.each([
  ['campaign.yaml', `${smsCampaignYaml}approval: required\n# changed\n`],
  ['contacts.csv', contactsCsv(5)],
])('a run is not approved when %s has changed since it was planned', async (file, content) => {
  await write('required');
  const run = await waiting();
  await scene.write(file, content);
  expect(await as('bob@desk', 'approve', run)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(`^${file}: It has changed since run ${run} was planned`),
  });
  expect(await sent()).toBe(0);
});

test('a run whose contact file has changed is not approved from another folder either', async () => {
  await write('required');
  const run = await waiting();
  await scene.write('contacts.csv', contactsCsv(5));
  await mkdir(join(scene.folder, 'elsewhere'));
  const there = { user: 'bob@desk', subfolder: 'elsewhere' };
  expect(await scene.command(['approve', run], there)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^contacts.csv: It has changed since/),
  });
});

test.each([
  ['{ aboveRecipients: 4 }', 0],
  ['{ aboveRecipients: 3 }', 4],
  ['{ aboveCost: 1000 }', 4],
])(
  'with approval: %s, a run of 4 recipients with unknown cost ends with exit code %d',
  async (approval, code) => {
    await write(approval);
    expect(await volley('run', 'campaign.yaml')).toMatchObject({ code });
    expect(await sent()).toBe(code === 0 ? 4 : 0);
  },
);

test.each(['sometimes', '{}', '{ aboveRecipients: -1 }'])('approval: %s is refused', async (approval) => {
  await write(approval);
  expect(await volley('plan', '--check', 'campaign.yaml')).toMatchObject({ code: 2, stdout: '' });
});

test('a run without required approval cannot be approved', async () => {
  await scene.write('campaign.yaml', smsCampaignYaml);
  const { stdout } = await volley('run', 'campaign.yaml', '--json');
  expect(await as('bob@desk', 'approve', JSON.parse(stdout).run)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('It needs no approval.'),
  });
});

test('a rerun for recipients that were not reached needs approval too', async () => {
  await write('required');
  const run = await waiting();
  await as('bob@desk', 'approve', run);
  await volley('resume', run);
  await createRequestRows(scene.ledger.pool, run);
  await scene.ledger.pool.query(`UPDATE requests SET state = 'failed' WHERE run_id = $1`, [run]);
  const again = await volley('rerun', run, '--state', 'failed', '--json');
  expect(again).toMatchObject({ code: 4 });
  expect(await sent()).toBe(4);
  expect(await as('bob@desk', 'approve', JSON.parse(again.stdout).run)).toMatchObject({ code: 0 });
});

test.each(['tester@elsewhere', 'Tester@here', 'tester'])(
  '%s counts as the system user who planned the run',
  async (user) => {
    await write('required');
    expect(await as(user, 'approve', await waiting())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`It was planned by ${tester}, and you are ${user}`),
    });
  },
);

test('the operating system names the approver; no option or variable does', async () => {
  await write('required');
  const run = await waiting();
  expect(await volley('approve', run, '--by', 'bob')).toMatchObject({ code: 2 });
  expect(await as('ann@desk', 'approve', run)).toMatchObject({ code: 0 });
  const { rows } = await scene.ledger.pool.query('SELECT approved_by FROM approvals WHERE run_id = $1', [
    run,
  ]);
  expect(rows).toEqual([{ approved_by: 'ann@desk' }]);
});

test.skipIf(process.platform !== 'linux' || spawnSync('unshare', ['-r', 'true']).status !== 0)(
  'root of a user namespace is not the person whom SUDO_USER names, and approves no own run',
  async () => {
    await write('required');
    // Such a root may not open the socket of the Postgres of the tests.
    await using proxy = await startPostgresProxy(scene.databaseUrl);
    const options = { cwd: scene.folder, env: accountEnvironment(proxy, scene.sandbox) };
    const planned = await startVolley(['run', 'campaign.yaml', '--json'], options).ended;
    const { run } = JSON.parse(planned.stdout);
    for (const launcher of ['unshare -r env SUDO_USER=bob', 'unshare -r', 'unshare -r unshare -r']) {
      const approved = await startVolley(['approve', run], { ...options, before: launcher.split(' ') }).ended;
      expect(approved).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Another person must approve it'),
      });
    }
  },
);

test('a run that is paused while it waits for approval is approved first and then resumed', async () => {
  await write('required');
  const run = await waiting();
  expect(await volley('pause', run, '--reason', 'the wrong text')).toMatchObject({ code: 0 });
  expect(await volley('resume', run)).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('waits for approval'),
  });
  expect(await as('bob@desk', 'approve', run)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`It is paused; \`volley resume ${run}\` sends it.`),
  });
  const { rows } = await scene.ledger.pool.query('SELECT state, state_reason FROM runs WHERE run_id = $1', [
    run,
  ]);
  expect(rows).toEqual([{ state: 'paused', state_reason: 'the wrong text' }]);
  expect(await sent()).toBe(0);
  expect(await volley('resume', run)).toMatchObject({ code: 0 });
  expect(await sent()).toBe(4);
});
