import { execFileSync } from 'node:child_process';
import { rm, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startByKey } from '../../../src/engine/access/start-by-key.ts';
import { loadAccount } from '../../../src/engine/load-definition.ts';
import { beginPlannedRuns } from '../../../src/engine/schedule/start-ticks.ts';
import { inStartKey } from '../../../src/ledger/runs/made-once.ts';
import { type Answer, type ApiScene, openApiScene } from '../../support/api-scene.ts';
import { smsCampaignYaml } from '../../support/workspace.ts';

let scene: ApiScene;
beforeAll(async () => {
  scene = await openApiScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const environment = {
  VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
  VOLLEY_SANDBOX_TOKEN: 'any',
  VOLLEY_ACCOUNTS: 'campaigns/accounts.yaml',
};

const start = (campaign: string, key: string, token = scene.tokens.run): Promise<Answer> =>
  scene.call('POST', '/runs', { token, body: { campaign }, headers: { 'idempotency-key': key } });

const stateOf = async (run: string): Promise<unknown> =>
  (await scene.call('GET', `/runs/${run}`)).json?.['state'];

const runsOf = async (): Promise<number> => {
  const { rows } = await scene.opened.ledger.pool.query<{ runs: number }>(
    'SELECT count(*)::integer AS runs FROM runs',
  );
  return rows[0]?.runs ?? 0;
};

async function trailOf(run: string): Promise<unknown[]> {
  const { json } = await scene.call('GET', `/audit?run=${run}`);
  const entries = Array.isArray(json?.['entries']) ? json['entries'] : [];
  return entries
    .map(({ action, who, how, token, outcome }) => [action, who, how, token, outcome])
    .toReversed();
}

describe('POST /runs', () => {
  test('a new run is given to the workers, and the answer has its path', async () => {
    const { status, json, headers } = await start('payroll.yaml', 'one');
    const run = String(json?.['run']);
    expect([status, json?.['state'], headers.get('location')]).toEqual([
      202,
      'running',
      `/api/v1/runs/${run}`,
    ]);
    const { rows } = await scene.opened.ledger.pool.query('SELECT state FROM slices WHERE run_id = $1', [
      run,
    ]);
    expect(rows).toContainEqual({ state: 'queued' });
    expect(await trailOf(run)).toEqual([
      ['run planned', 'ann', 'api', 'runner', 'done'],
      ['run started', 'ann', 'api', 'runner', 'done'],
    ]);
  });

  test('the audit trail has the start of a run with its plan, except for a run that needs approval', async () => {
    const settings = { environment, workingFolder: scene.workspace.folder };
    const campaignSource = {
      folder: 'campaigns',
      settings,
      accountNamed: (name: string) => loadAccount(name, settings),
    };
    const planned = async (campaign: string): Promise<unknown[]> => {
      const asked = { campaign, accounts: null, token: 'runner', key: `planned-${campaign}` };
      const end = await startByKey(scene.opened.context, campaignSource, asked, () => undefined);
      return 'run' in end ? await trailOf(end.run) : [];
    };
    const [plan, started] = ['run planned', 'run started'].map((act) => [act, 'tester', 'cli', null, 'done']);
    expect(await planned('payroll.yaml')).toEqual([plan, started]);
    expect(await planned('watched.yaml')).toEqual([plan]);
  });

  test.each(['completed', 'paused'])(
    'a run that is %s before the API starts it is answered with that state',
    async (state) => {
      const newest = 'SELECT run_id FROM runs ORDER BY created_at DESC, run_id DESC LIMIT 1';
      scene.beforeAccountLookUp(() =>
        scene.opened.ledger.pool.query(
          `UPDATE runs SET state = '${state}', state_reason = '"by another"' WHERE run_id = (${newest})`,
        ),
      );
      const { status, json } = await start('payroll.yaml', `quick-${state}`);
      scene.beforeAccountLookUp(async () => undefined);
      expect([status, json]).toEqual([202, { run: expect.any(String), state, reason: 'by another' }]);
    },
  );

  test('a repeated call returns the same run, and another key makes another run', async () => {
    const before = await runsOf();
    const [first, second] = [await start('payroll.yaml', 'twice'), await start('payroll.yaml', 'twice')];
    const other = await start('payroll.yaml', 'another');
    expect(second.json?.['run']).toBe(first.json?.['run']);
    expect([first, second].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(other.json?.['run']).not.toBe(first.json?.['run']);
    expect(await runsOf()).toBe(before + 2);
  });

  test('simultaneous equal calls make one run', async () => {
    const before = await runsOf();
    const answers = await Promise.all(Array.from({ length: 6 }, () => start('payroll.yaml', 'crowd')));
    const runs = new Set(answers.flatMap(({ json }) => (json?.['run'] === undefined ? [] : [json['run']])));
    expect(runs.size).toBe(1);
    for (const { status } of answers) expect([202, 409, 503]).toContain(status);
    expect(await runsOf()).toBe(before + 1);
    expect((await start('payroll.yaml', 'crowd')).json?.['run']).toBe([...runs][0]);
  });

  test("a key that started another campaign is refused, and another token's key makes another run", async () => {
    const first = await start('payroll.yaml', 'mine');
    const another = await start('watched.yaml', 'mine');
    expect([another.status, another.json?.['detail']]).toEqual([
      422,
      expect.stringContaining('Choose another key'),
    ]);
    const theirs = await start('payroll.yaml', 'mine', scene.tokens.admin);
    expect(theirs.status).toBe(202);
    expect(theirs.json?.['run']).not.toBe(first.json?.['run']);
  });

  test('a call is not planned again while the same call is open in another process', async () => {
    const key = { token: 'runner', key: 'busy' };
    const refused = await inStartKey(scene.opened.ledger.pool, key, () => start('payroll.yaml', 'busy'));
    expect([refused?.status, refused?.json?.['kind'], refused?.headers.get('retry-after')]).toEqual([
      409,
      'busy',
      '5',
    ]);
    expect((await start('payroll.yaml', 'busy')).status).toBe(202);
  });

  test('a run whose process ended between plan and start is started by a repeated call or by the scheduler', async () => {
    const unbegun = async (key: string): Promise<string> => {
      const run = String((await start('payroll.yaml', key)).json?.['run']);
      await scene.opened.ledger.pool.query(`UPDATE runs SET state = 'planned' WHERE run_id = $1`, [run]);
      return run;
    };
    const repeated = await unbegun('died');
    expect((await start('payroll.yaml', 'died')).json).toMatchObject({ run: repeated, state: 'running' });
    const forgotten = await unbegun('died-too');
    const settings = { environment, workingFolder: scene.workspace.folder };
    const accountNamed = (name: string) => loadAccount(name, settings);
    await beginPlannedRuns(scene.opened.context, { folder: 'campaigns', settings, accountNamed });
    expect(await stateOf(forgotten)).toBe('running');
    expect((await trailOf(forgotten)).at(-1)).toEqual(['run started', 'ann', 'api', 'runner', 'done']);
  });
});

describe('POST /runs, for a campaign that cannot start', () => {
  test.each([
    '../secret.yaml',
    '/etc/passwd',
    'campaigns/payroll.yaml',
    './payroll.yaml',
    'accounts.yaml',
    'contacts.csv',
    'payroll.yaml\u0000',
    '',
  ])('%j is not a campaign of the folder, and the error lists the campaigns', async (campaign) => {
    const before = await runsOf();
    const { status, json } = await start(campaign, 'paths');
    expect([status, json?.['problems']]).toEqual([
      422,
      [
        {
          where: 'campaign',
          what: expect.stringContaining('The files: dear.yaml, payroll.yaml, watched.yaml'),
        },
      ],
    ]);
    expect(await runsOf()).toBe(before);
  });

  test('links to the accounts file or to folders, broken links, hidden files and pipes are not campaigns', async () => {
    const pathOf = (name: string): string => `${scene.workspace.folder}/campaigns/${name}`;
    await scene.workspace.write('campaigns/.payroll.yaml', smsCampaignYaml);
    await symlink('accounts.yaml', pathOf('other.yaml'));
    await symlink('..', pathOf('folder.yaml'));
    await symlink('nowhere', pathOf('nowhere.yaml'));
    await symlink('payroll.yaml', pathOf('link.yaml'));
    execFileSync('mkfifo', [pathOf('pipe.yaml')]);
    const { json } = await scene.call('GET', '/campaigns');
    for (const name of ['link.yaml', 'other.yaml', 'folder.yaml', 'nowhere.yaml', 'pipe.yaml'])
      await rm(pathOf(name));
    expect(json).toEqual({ campaigns: ['dear.yaml', 'link.yaml', 'payroll.yaml', 'watched.yaml'] });
  });

  test('a campaign without recipients is refused, and its refusal is stored as a notification', async () => {
    const before = await runsOf();
    const notify = 'notify: [{ on: [refused], email: { to: [ops@example.org] } }]\n';
    const noRecipients = smsCampaignYaml.replace('country: AU', 'where: [{ column: name, equals: none }]');
    await scene.workspace.write('campaigns/nobody.yaml', `${noRecipients}${notify}`);
    const { status, json } = await start('nobody.yaml', 'nobody');
    await rm(`${scene.workspace.folder}/campaigns/nobody.yaml`);
    expect([status, json?.['kind'], json?.['detail']]).toEqual([
      422,
      'input',
      expect.stringContaining('"contacts.where" excludes all rows (4)'),
    ]);
    expect(await runsOf()).toBe(before);
    const { rows } = await scene.opened.ledger.pool.query(`SELECT event, state FROM notifications`);
    expect(rows).toEqual([{ event: 'refused', state: 'due' }]);
  });

  test('a campaign that exceeds its budget is refused in the words of the command line and leaves nothing behind', async () => {
    const before = await runsOf();
    const { status, json } = await start('dear.yaml', 'dear');
    expect([status, json?.['problems']]).toEqual([
      422,
      [{ where: 'campaigns/dear.yaml:13:9', what: expect.stringContaining('rates') }],
    ]);
    expect(await runsOf()).toBe(before);
  });

  test.each([
    [{}, 'headers/idempotency-key'],
    [{ 'idempotency-key': 'with a blank' }, 'headers/idempotency-key'],
    [{ 'idempotency-key': 'k'.repeat(201) }, 'headers/idempotency-key'],
  ])('a call without a valid Idempotency-Key (%j) starts nothing', async (headers, where) => {
    const answer = await scene.call('POST', '/runs', { body: { campaign: 'payroll.yaml' }, headers });
    expect([answer.status, answer.json?.['problems']]).toEqual([400, [{ where, what: expect.any(String) }]]);
  });
});

describe('POST /runs/{run}/approve', () => {
  test('the planner of a run cannot approve it with any token, and another person can', async () => {
    const { json } = await start('watched.yaml', 'two');
    const run = String(json?.['run']);
    expect(json).toMatchObject({ state: 'planned', reason: expect.stringContaining('waits for approval') });
    const own = await scene.call('POST', `/runs/${run}/approve`);
    expect([own.status, own.json?.['detail']]).toEqual([
      409,
      expect.stringContaining('Another person must approve it'),
    ]);
    const resumed = await scene.call('POST', `/runs/${run}/resume`);
    expect([resumed.status, resumed.json?.['detail']]).toEqual([
      409,
      expect.stringContaining('waits for approval'),
    ]);
    for (const [name, owner] of [
      ['anns-other', ' Ann '],
      ['anns-desk', 'ann@desk'],
    ] as const) {
      const token = await scene.tokenOf(name, 'admin', owner);
      expect((await scene.call('POST', `/runs/${run}/approve`, { token })).status).toBe(409);
    }
    const token = await scene.tokenOf('bobs', 'admin', 'bob');
    const given = await scene.call('POST', `/runs/${run}/approve`, { token, body: { reason: 'checked' } });
    expect(given.json).toMatchObject({ run, by: 'bob' });
    const resume = { token, body: { reason: 'on time' } };
    expect((await scene.call('POST', `/runs/${run}/resume`, resume)).json).toMatchObject({
      state: 'running',
    });
    const { json: audit } = await scene.call('GET', `/audit?run=${run}&limit=2`);
    expect(audit?.['entries']).toMatchObject([
      { action: 'run started', details: { reason: 'on time' } },
      { action: 'run approved', details: { reason: 'checked' } },
    ]);
    expect(await trailOf(run)).toEqual([
      ['run planned', 'ann', 'api', 'runner', 'done'],
      ['run approved', 'ann', 'api', 'chief', 'refused'],
      ['run started', 'ann', 'api', 'chief', 'refused'],
      ['run approved', ' Ann ', 'api', 'anns-other', 'refused'],
      ['run approved', 'ann@desk', 'api', 'anns-desk', 'refused'],
      ['run approved', 'bob', 'api', 'bobs', 'done'],
      ['run started', 'bob', 'api', 'bobs', 'done'],
    ]);
  });
});

test('an action that the state of a run does not allow is a conflict, in the words of the command line', async () => {
  const run = String((await start('payroll.yaml', 'ended')).json?.['run']);
  await scene.call('POST', `/runs/${run}/cancel`, { body: { reason: 'wrong list' } });
  expect(await stateOf(run)).toBe('cancelled');
  for (const what of ['pause', 'cancel', 'resume']) {
    const { status, json } = await scene.call('POST', `/runs/${run}/${what}`);
    expect([status, json?.['detail']]).toEqual([409, expect.stringContaining('The run is cancelled')]);
  }
});

test('GET /runs lists runs in pages, newest first, each once, and filters them', async () => {
  const seen: unknown[] = [];
  let before = '';
  for (let page = 0; page < 50; page++) {
    const { json } = await scene.call('GET', `/runs?limit=2${before && `&before=${before}`}`);
    const runs = Array.isArray(json?.['runs']) ? json['runs'] : [];
    seen.push(...runs.map(({ run }) => run));
    if (json?.['next'] === null) break;
    before = String(json?.['next']);
  }
  const { rows } = await scene.opened.ledger.pool.query<{ run_id: string }>(
    'SELECT run_id FROM runs ORDER BY created_at DESC, run_id DESC',
  );
  expect(seen).toEqual(rows.map(({ run_id }) => run_id));
  const { json } = await scene.call('GET', '/runs?state=cancelled&campaign=test&channel=sms');
  expect(json?.['runs']).toEqual([expect.objectContaining({ state: 'cancelled', reason: 'wrong list' })]);
  expect((await scene.call('GET', '/runs?before=none')).status).toBe(422);
});
