import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { findRun, listRuns } from '../../../src/ledger/runs/find.ts';
import { expectAccessible, findProblems } from '../../support/accessibility.ts';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  type Visitor,
  whenPlanned,
} from '../../support/dashboard-scene.ts';
import { deleteRuns } from '../../support/empty-ledger.ts';
import { accountsYaml, contactsCsv, noRepeatCampaignYaml, smsCampaignYaml } from '../../support/workspace.ts';

const nightly = `${smsCampaignYaml.replace('campaign: test', 'campaign: nightly')}
schedule: { cron: "30 2 * * MON-FRI", timeZone: Pacific/Auckland }
`;
const hostileFile = '<img src=x onerror=alert(1)>\u202e"\'&.yaml';
const secret = 'a-secret-in-the-wrong-file';

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene({
    files: {
      'accounts.yaml': `${accountsYaml}${accountsYaml.replace('\naccounts:\n  sandbox:', '  other:')}`,
      'campaigns/nightly.yaml': nightly,
      'campaigns/edited.yaml': smsCampaignYaml
        .replace('campaign: test', 'campaign: edited')
        .replace('contacts.csv', 'edited.csv'),
      'campaigns/edited.csv': contactsCsv(3),
      'campaigns/faulty.yaml': smsCampaignYaml.replace('channel: sms', 'channel: smoke'),
      'campaigns/of-other.yaml': smsCampaignYaml
        .replace('account: sandbox', 'account: other')
        .replace('campaign: test', 'campaign: of-other'),
      'campaigns/once.yaml': noRepeatCampaignYaml.replace('campaign: test', 'campaign: once'),
      'campaigns/watched.yaml': `${smsCampaignYaml.replace('campaign: test', 'campaign: watched')}approval: required\n`,
      'campaigns/no-contacts.yaml': smsCampaignYaml
        .replace('campaign: test', 'campaign: no-contacts')
        .replace('contacts.csv', 'missing.csv'),
      'campaigns/old-accounts.yaml': accountsYaml.replace('${VOLLEY_SANDBOX_TOKEN}', secret),
      [`campaigns/${hostileFile}`]: smsCampaignYaml.replace(
        'Hello [[name]]',
        '<script>alert(1)</script> \u202eabc 😀 [[name]]',
      ),
    },
  });
  const { pool } = scene.opened.ledger;
  await scene.command(['schedule', 'sync']);
  const reason = `<b>nothing</b> \u202e ${'x'.repeat(10_000)}`;
  await pool.query(
    `INSERT INTO ticks (schedule, due_at, state, reason)
     VALUES ('nightly.yaml', now() - interval '1 day', 'missed', '{"kind": "no_worker", "catchUpMilliseconds": 0}'),
            ('nightly.yaml', now() - interval '2 days', 'failed', to_jsonb($1::text))`,
    [reason],
  );
});
afterAll(() => scene[Symbol.asyncDispose]());

const runs = () => listRuns(scene.opened.ledger.knex, 100);
const pathOf = (location: string | null) => /\/runs\/([\w-]+)$/.exec(location ?? '')?.[1] ?? '';

/** Copies of a run, as runs of another campaign that were planned after it and have ended. */
async function addNewerRuns(run: string, count: number): Promise<void> {
  await scene.opened.ledger.pool.query(
    `
    INSERT INTO runs OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(runs, jsonb_build_object(
             'run_id', 'newer-' || number, 'run_number', 1000 + number, 'campaign', 'of others',
             'created_at', created_at + make_interval(secs => number)))).*
    FROM runs
    CROSS JOIN generate_series(1, $2::integer) AS number
    WHERE run_id = $1
    `,
    [run, count],
  );
}

test('the page lists each campaign with its account, its next time in both zones, and what was missed', async () => {
  const page = await scene.browse('/campaigns');
  await page
    .getByRole('row', { name: /nightly\.yaml/ })
    .getByText('Pacific/Auckland')
    .first()
    .waitFor();
  const table = page.getByRole('region', { name: 'Campaigns of the folder' });
  await table.getByRole('link', { name: 'of-other.yaml', exact: true }).waitFor();
  const withoutRun = page.getByRole('region', { name: 'Due without a run' }).getByRole('listitem');
  expect(await withoutRun.count()).toBe(1);
  expect(await withoutRun.textContent()).toMatch(/\(UTC\): missed.*and 1 before it/);
  await page.getByText('campaigns/faulty.yaml:4:10').waitFor();
  expect(await table.getByText(/[<]img src=x/).count()).toBe(1);
  expect(await page.locator('img').count()).toBe(0);
});

describe('a campaign', () => {
  test('is started from the keyboard, and its run is sent', async () => {
    const page = await scene.browse('/campaigns', { owner: 'bea' });
    await page.getByRole('link', { name: 'Start now: test.yaml' }).press('Enter');
    await page.getByText('It sends to 4 recipients in 4 requests').waitFor();
    expect(await findProblems(page)).toEqual([]);
    await page.getByRole('button', { name: 'Start the run' }).press('Enter');
    await page.getByText('The run is planned; workers send it.').waitFor();
    const run = pathOf(page.url());
    await expect
      .poll(async () => (await findRun(scene.opened.ledger.knex, run))?.state, { timeout: 20_000 })
      .toBe('completed');
    expect((await (await scene.visitor('read')).get('/campaigns')).text).toContain(`/runs/${run}`);
    const audit = await listAudit(scene.opened.ledger.pool, { run }, 10);
    expect(audit.map(({ who, how, action }) => `${who} ${how} ${action}`)).toEqual([
      'bea dashboard run started',
      'bea dashboard run planned',
    ]);
  });

  test('is listed with its last run, however many runs of others came later', async () => {
    const { pool } = scene.opened.ledger;
    const [last] = (await runs()).filter(({ campaign }) => campaign === 'test');
    await addNewerRuns(last?.run ?? '', 500);
    const page = await (await scene.visitor('read')).get('/campaigns');
    await deleteRuns(pool, "campaign = 'of others'");
    expect(page.text).toContain(`/runs/${last?.run}`);
  });

  test('is listed with the doubts of its last run', async () => {
    const { pool } = scene.opened.ledger;
    const [last] = (await runs()).filter(({ campaign }) => campaign === 'test');
    await pool.query(
      `INSERT INTO run_counts (run_id, counted, requests, recipients) VALUES ($1, 'in_doubt', 1, 1)`,
      [last?.run],
    );
    const page = await (await scene.visitor('read')).get('/campaigns');
    await pool.query(`DELETE FROM run_counts WHERE run_id = $1 AND counted = 'in_doubt'`, [last?.run]);
    expect(page.text).toContain('completed with unknown');
  });

  test('is started once when its form is sent twice at once, and again afterwards', async () => {
    const person = await scene.visitor('run');
    const before = (await runs()).length;
    const form = hiddenFields((await whenPlanned(person, '/campaigns/test.yaml/start')).text);
    expect(form['plan']).not.toBe('');
    const send = () => person.post('/campaigns/test.yaml/start', form);
    const first = await Promise.all([send(), send()]);
    const again = await send();
    expect(again.status).toBe(303);
    for (const { status, headers, text } of first)
      if (status === 303) expect(headers.get('location')).toBe(again.headers.get('location'));
      else expect(text).toContain('This form was sent already');
    expect((await runs()).length).toBe(before + 1);
    expect((await person.send('/campaigns/test.yaml/start', { plan: '' })).status).toBe(422);
  });

  test('whose contact file grew while its form was open is not started before the person sees that', async () => {
    const person = await scene.visitor('run');
    const path = '/campaigns/edited.yaml/start';
    const form = hiddenFields((await whenPlanned(person, path)).text);
    await scene.workspace.write('campaigns/edited.csv', contactsCsv(40));
    const refused = await person.post(path, form);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('has 40 rows, 37 more than in the plan');
    expect(refused.text).toContain('Plan it anew');
    expect(refused.text).not.toContain('volley ');
    expect((await runs()).filter(({ campaign }) => campaign === 'edited')).toEqual([]);
    expect((await person.post(path, form)).text).toContain('This plan is not kept any more');
    const anew = await whenPlanned(person, path);
    expect(anew.text).toContain('It sends to <strong>40 recipients</strong>');
    expect((await person.post(path, hiddenFields(anew.text))).status).toBe(303);
  });

  test('waits for approval when its file asks for it', async () => {
    const person = await scene.visitor('run');
    const { text } = await whenPlanned(person, '/campaigns/watched.yaml/start');
    expect(text).toContain('asks for <strong>approval');
    const { headers } = await person.send('/campaigns/watched.yaml/start', {});
    expect((await findRun(scene.opened.ledger.knex, pathOf(headers.get('location'))))?.state).toBe('planned');
  });

  test('that had a run with the same contacts says so before it is started again', async () => {
    const person = await scene.visitor('run');
    expect((await person.send('/campaigns/once.yaml/start', {})).status).toBe(303);
    const { text } = await whenPlanned(person, '/campaigns/once.yaml/start');
    expect(text).toContain('These contacts had a run before');
    expect(text).not.toContain('volley run --again');
  });

  test('whose contact file is missing says so with its line, and is not started', async () => {
    const person = await scene.visitor('run');
    const before = (await runs()).length;
    const csrf = /name="csrf" value="([^"]+)"/.exec((await person.get('/')).text)?.[1] ?? '';
    const asked = await whenPlanned(person, '/campaigns/no-contacts.yaml/start');
    expect(asked.text).toContain(
      'campaigns/no-contacts.yaml:6:9</code>: <bdi>The contact file campaigns/missing.csv cannot',
    );
    expect(hiddenFields(asked.text)).toEqual({});
    const sent = await person.post('/campaigns/no-contacts.yaml/start', { csrf, plan: 'k' });
    expect(sent.status).toBe(422);
    expect((await runs()).length).toBe(before);
  });

  test('is shown with its text, its schedule and its due times', async () => {
    const page = await scene.browse('/campaigns/nightly.yaml');
    await page.getByRole('region', { name: 'Text of nightly.yaml' }).getByText('cron: "30 2').waitFor();
    await page.getByText('Every weekday at 02:30 Auckland time').waitFor();
    expect(await page.locator('#schedule .next-times li').count()).toBe(5);
    await page.getByText('<b>nothing</b>').first().waitFor();
    expect(await page.locator('main b').count()).toBe(0);
  });

  test('shows its new run within a second, without being opened again', async () => {
    const page = await scene.browse('/campaigns/of-other.yaml');
    await page.getByText('It has not run yet.').waitFor();
    await (await scene.visitor('run')).send('/campaigns/of-other.yaml/start', {});
    await page.getByRole('region', { name: 'Its latest runs' }).waitFor();
  });
});

test('a token for some accounts sees and starts only their campaigns', async () => {
  const person = await scene.visitor('admin', { accounts: ['other'] });
  const { text } = await person.get('/campaigns');
  expect(text).toContain('of-other.yaml');
  for (const file of ['test.yaml', 'faulty.yaml', 'old-accounts.yaml']) {
    expect(text).not.toContain(file);
    for (const page of ['', '/start', '/live'])
      expect((await person.get(`/campaigns/${file}${page}`)).status).toBe(404);
    const csrf = /name="csrf" value="([^"]+)"/.exec((await person.get('/')).text)?.[1] ?? '';
    expect((await person.post(`/campaigns/${file}/start`, { csrf, key: 'k' })).status).toBe(404);
  }
  expect((await person.send('/campaigns/of-other.yaml/start', {})).status).toBe(303);
});

test('a file that was of another account before does not show the due times and runs of then', async () => {
  const { run = '' } = (await runs()).find(({ account }) => account === 'other') ?? {};
  await scene.opened.ledger.pool.query(
    `INSERT INTO ticks (schedule, due_at, state, run_id, reason)
     VALUES ('nightly.yaml', now() - interval '3 days', 'started', $1, null),
            ('nightly.yaml', now() - interval '4 days', 'failed', null, '"words of then"')`,
    [run],
  );
  const [all, some] = [await scene.visitor('read'), await scene.visitor('read', { accounts: ['sandbox'] })];
  const textOf = async (person: Visitor): Promise<string> =>
    (await person.get('/campaigns/nightly.yaml')).text + (await person.get('/campaigns')).text;
  for (const then of [run, 'words of then']) {
    expect(await textOf(all)).toContain(then);
    expect(await textOf(some)).not.toContain(then);
  }
  expect(await textOf(some)).toContain('missed');
});

test('a token that may only read is offered no start, and is refused', async () => {
  const person = await scene.visitor('read');
  expect((await person.get('/campaigns')).text).not.toContain('/start');
  expect((await person.get('/campaigns/test.yaml')).text).not.toContain('/start');
  expect((await person.get('/campaigns/test.yaml/start')).status).toBe(403);
  const csrf = /name="csrf" value="([^"]+)"/.exec((await person.get('/')).text)?.[1] ?? '';
  expect((await person.post('/campaigns/test.yaml/start', { csrf, key: 'k' })).status).toBe(403);
});

test('no file outside of the folder is shown, and none that may hold secrets', async () => {
  const person = await scene.visitor('admin');
  for (const file of ['..%2Faccounts.yaml', '%2Fetc%2Fpasswd', 'accounts.yaml', 'contacts.csv', '%00'])
    expect([400, 404]).toContain((await person.get(`/campaigns/${file}`)).status);
  const { status, text } = await person.get('/campaigns/old-accounts.yaml');
  expect(status).toBe(200);
  expect(text).toContain('Its text is not shown');
  expect(text + (await person.get('/campaigns')).text).not.toContain(secret);
});

test('every page keeps the rules of accessibility, light and dark, also with hostile names', async () => {
  const page = await scene.browse('/campaigns', { width: 360 });
  for (const path of [
    '/campaigns',
    '/campaigns/nightly.yaml',
    `/campaigns/${encodeURIComponent(hostileFile)}`,
  ]) {
    await page.goto(`${scene.url}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expectAccessible(page);
  }
});
