import { describe, expect, test } from 'vitest';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { type Ended, tester } from '../support/volley.ts';
import { contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({ 'contacts.csv': contactsCsv(2), 'campaign.yaml': smsCampaignYaml });

const volley = (...words: string[]): Promise<Ended> => as(tester, ...words);

const as = (user: string, ...words: string[]): Promise<Ended> =>
  scene.command(words, { user, env: { VOLLEY_HASH_KEY: '0123456789abcdef'.repeat(4) } });

async function audit(...words: string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await volley('audit', '--format', 'ndjson', ...words);
  expect(code, stderr).toBe(0);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

async function waiting(): Promise<string> {
  await scene.write('campaign.yaml', `${smsCampaignYaml}approval: required\n`);
  return JSON.parse((await volley('run', 'campaign.yaml', '--json')).stdout).run;
}

test('the audit trail of a run names who planned, approved, started, paused and cancelled it, and what was refused', async () => {
  const run = await waiting();
  await volley('approve', run);
  await as('bob@desk', 'approve', run, '--reason', 'checked the list');
  await volley('pause', run, '--reason', 'lunch');
  await volley('cancel', run, '--reason', 'wrong list');
  await volley('resume', run);
  const entries = await audit(run);
  expect(entries.toReversed().map(({ action, outcome, details }) => [action, outcome, details])).toEqual([
    ['run planned', 'done', 'campaign: test; file: campaign.yaml'],
    [
      'run approved',
      'refused',
      expect.stringContaining(`It was planned by ${tester}, and you are ${tester}. Another person must`),
    ],
    ['run approved', 'done', 'reason: checked the list'],
    ['run paused', 'done', 'reason: lunch'],
    ['run cancelled', 'done', 'reason: wrong list'],
    ['run resumed', 'refused', expect.stringContaining('nothing left to send')],
  ]);
  const actors = entries.map(({ who, how, token }) => [who, how, token].join());
  expect(actors.filter((actor) => actor === `${tester},cli,`)).toHaveLength(5);
  expect(actors).toContain('bob@desk,cli,');
});

test('sending a run is recorded as a start, and continuing it after a pause as a resume', async () => {
  const { run } = JSON.parse((await volley('run', 'campaign.yaml', '--json')).stdout);
  const paused = await waiting();
  await as('bob@desk', 'approve', paused);
  await volley('pause', paused);
  expect((await volley('resume', paused, '--reason', 'lunch is over')).code).toBe(0);
  const [resumed] = await audit(paused);
  expect(resumed?.['details']).toBe('reason: lunch is over');
  const actions = async (id: string) => (await audit(id)).map(({ action }) => action);
  expect(await actions(run)).toEqual(['run started', 'run planned']);
  expect(await actions(paused)).toEqual(['run resumed', 'run paused', 'run approved', 'run planned']);
});

test('suppressions are recorded by number, never by address, and an address in a reason is masked', async () => {
  await volley('suppress', 'add', '+61412000111', '--channel', 'sms', '--reason', 'asked by +61 412 000 111');
  await volley('suppress', 'remove', '+61412000111', '--channel', 'sms');
  await scene.write('list.csv', 'phone\n+61412000112\n+61412000113\n');
  await volley('suppress', 'import', 'list.csv', '--channel', 'sms');
  const entries = await audit('--since', '2020-01-01');
  expect(entries.slice(0, 3).map(({ action, details }) => [action, details])).toEqual([
    ['suppressions added', 'channels: sms; file: list.csv; added: 2'],
    ['suppressions removed', 'channels: sms; asked: 1; removed: 1'],
    ['suppressions added', 'channels: sms; asked: 1; reason: asked by ***; added: 1'],
  ]);
});

test('changed limits, replays, a purge and the closing of a month are recorded', async () => {
  await volley('account', 'limits', 'sandbox', '--requests-per-second', '5');
  await volley('delivery-reports', 'replay', '--account', 'sandbox');
  await volley('billing', 'close', '2999-01', '--time-zone', 'UTC');
  expect((await volley('billing', 'close', '2020-01', '--time-zone', 'UTC', '--by', 'ann@desk')).code).toBe(
    0,
  );
  await scene.ledger.pool.query(
    `INSERT INTO suppressions (channel, address, sub_account, reason, source, created_at)
     VALUES ('sms', '+61412000199', '', '', 'operator', '2001-01-01')`,
  );
  expect(await volley('purge', '--older-than', '3000d', '--yes')).toMatchObject({ code: 0 });
  const entries = (await audit()).slice(0, 5);
  expect(entries.map(({ action, subject, outcome }) => [action, subject, outcome])).toEqual([
    ['purged', null, 'done'],
    ['billing closed', '2020-01', 'done'],
    ['billing closed', '2999-01', 'refused'],
    ['delivery reports replayed', 'sandbox', 'done'],
    ['limits set', 'sandbox', 'done'],
  ]);
  expect(entries[1]?.['details']).toBe('timeZone: UTC; by: ann@desk');
  expect((await volley('billing', 'close', '2020-01')).code).toBe(2);
  expect((await audit())[0]).toMatchObject({
    who: tester,
    outcome: 'refused',
    details: expect.stringMatching(/by: tester@here.* ann@desk closed it/),
  });
});

test('a token is shown once and stored as a digest; its creation and its end are recorded', async () => {
  const created = await volley('token', 'create', '--name', 'desk', '--scope', 'run', '--owner', 'ann');
  expect(created.stdout).toMatch(/^volley_[0-9a-f]{48}\n$/);
  expect((await volley('token', 'create', '--name', 'desk', '--scope', 'read')).code).toBe(2);
  const { rows } = await scene.ledger.pool.query('SELECT * FROM tokens');
  const [{ sha256, ...kept }] = rows;
  expect(sha256).toHaveLength(32);
  expect(JSON.stringify(kept)).not.toContain(created.stdout.trim().slice(-20));
  expect((await volley('token', 'list')).stdout).toMatch(/desk +│ ann +│ run +│ all +│ tester@here +│ valid/);
  expect((await volley('token', 'revoke', 'desk')).stdout).toBe('Token desk is revoked.\n');
  expect((await volley('token', 'revoke', 'desk')).code).toBe(2);
  expect((await volley('token', 'list')).stdout).toMatch(
    /desk +│ ann +│ run +│ all +│ tester@here +│ revoked/,
  );
  expect((await audit()).slice(0, 4).map(({ action, outcome }) => [action, outcome])).toEqual([
    ['token revoked', 'refused'],
    ['token revoked', 'done'],
    ['token created', 'refused'],
    ['token created', 'done'],
  ]);
});

test.each([
  [['--name', 'a b', '--scope', 'read'], 'letters, digits'],
  [['--name', 'a', '--scope', 'all'], 'read, search, run, approve or admin'],
  [['--name', 'a', '--scope', 'read', '--owner', ' '], 'the name of a person'],
  [['--name', 'a', '--scope', 'read', '--expires', '0d'], 'expected a duration such as'],
  [['--name', 'a'], '--scope'],
])('token create %j is refused', async (words, reason) => {
  const { code, stdout, stderr } = await volley('token', 'create', ...words);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(reason)]);
});

describe('entries of the audit trail', () => {
  test.each(['DELETE FROM audit', `UPDATE audit SET actor = 'nobody'`, 'TRUNCATE audit'])(
    'the database refuses %s, because entries can only be added',
    async (sql) => {
      await expect(scene.ledger.pool.query(sql)).rejects.toThrow('the audit trail is append-only');
    },
  );

  test('an audit entry does not exist if its action was not committed', async () => {
    const before = (await audit()).length;
    await scene.write('campaign.yaml', `${smsCampaignYaml}budget: { campaign: 0.01 }\n`);
    expect((await volley('run', 'campaign.yaml')).code).toBe(2);
    expect(await audit()).toHaveLength(before);
  });
});
