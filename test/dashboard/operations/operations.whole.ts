import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { listTokens } from '../../../src/ledger/tokens/tokens.ts';
import { findProblems } from '../../support/accessibility.ts';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  signIn,
} from '../../support/dashboard-scene.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../../support/workspace.ts';

const secrets = ['the-secret-auth-token', 'the-secret-webhook-token'] as const;
const hostile = '<img src=x onerror=alert(1)> \u202eevil 😀 محمد';

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene({
    sandbox: { latency: 50 },
    files: {
      'accounts.yaml': `${accountsYaml}${accountsYaml.replace('\naccounts:\n  sandbox:', '  other:')}`,
      'campaigns/faulty.yaml': 'campaign: broken\naccount: sandbox\nchanel: sms\n',
      'campaigns/slow.yaml': smsCampaignYaml
        .replace('campaign: test', 'campaign: slow')
        .replace('concurrency: 4', 'concurrency: 1')
        .replace('contacts.csv', 'many.csv'),
      'campaigns/many.csv': contactsCsv(3_000),
    },
    environment: { VOLLEY_SANDBOX_TOKEN: secrets[0], VOLLEY_WEBHOOK_TOKEN: secrets[1] },
  });
});
afterAll(() => scene[Symbol.asyncDispose]());

const lastAudit = async () => (await listAudit(scene.opened.ledger.pool, {}, 1))[0];

describe('an account', () => {
  test('gets other limits, with the reason in the audit trail, and its page shows no secret', async () => {
    const person = await scene.visitor('admin');
    const answer = await person.send('/accounts/sandbox/limits', {
      requestsPerSecond: '12.5',
      recipientsPerSecond: '',
      reason: 'the service asked for it',
    });
    expect(answer.status).toBe(303);
    expect(await lastAudit()).toMatchObject({
      action: 'limits set',
      subject: 'sandbox',
      details: { requestsPerSecond: 12.5, recipientsPerSecond: null, reason: 'the service asked for it' },
    });
    const { text } = await person.get('/accounts');
    expect(text).toContain('12.5 requests');
    expect(text).not.toContain(scene.environment['VOLLEY_WEBHOOK_TOKEN']);
    await person.send('/accounts/sandbox/limits', {
      requestsPerSecond: '',
      recipientsPerSecond: '',
      reason: 'done',
    });
  });

  test('has a page with its service, its limits and its changes, and no page or stream shows a secret', async () => {
    const page = await scene.browse('/accounts/sandbox');
    await page.getByText(new URL(scene.sandbox.url).host).waitFor();
    await page.getByText('the service asked for it').waitFor();
    await page.getByRole('rowheader', { name: 'Recipients a second' }).waitFor();
    const person = await scene.visitor('admin');
    for (const path of ['/accounts', '/accounts/sandbox', '/accounts/sandbox/limits', '/health', '/audit'])
      for (const secret of secrets) expect((await person.get(path)).text).not.toContain(secret);
    await page.goto(`${scene.url}/accounts`);
    await page.getByRole('link', { name: 'sandbox', exact: true }).waitFor();
    for (const secret of secrets) expect(await page.content()).not.toContain(secret);
  });

  test('gets other limits by the keyboard alone, without JavaScript, and an open page shows them', async () => {
    const watching = await scene.browse('/accounts', { scope: 'read' });
    expect(await watching.getByText('Change limits').count()).toBe(0);
    const page = await scene.browse('/accounts', { javaScript: false });
    await page.getByRole('link', { name: 'Change limits of other' }).press('Enter');
    await page.getByLabel('Requests a second').fill('7.25');
    await page.getByLabel('Reason').fill(hostile);
    await page.getByLabel('Reason').press('Enter');
    await page.getByText('The limits of other are set').waitFor();
    await watching.getByText('7.25 requests').waitFor();
    await page.getByText('<img src=x').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('is changed once by a form that is sent twice, also at once', async () => {
    const person = await scene.visitor('admin');
    const fields = {
      ...hiddenFields((await person.get('/accounts/other/limits')).text),
      requestsPerSecond: '9',
      recipientsPerSecond: '90',
      reason: 'twice',
    };
    const answers = await Promise.all([1, 2].map(() => person.post('/accounts/other/limits', fields)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    expect(answers.find(({ status }) => status === 422)?.text).toContain('changed meanwhile');
    const entries = await listAudit(scene.opened.ledger.pool, { action: 'limits set', outcome: 'done' }, 100);
    expect(entries.filter(({ details }) => details['reason'] === 'twice').length).toBe(1);
  });

  test('is neither shown to nor changed by a token for another account', async () => {
    const person = await scene.visitor('admin', { accounts: ['other'] });
    const { text } = await person.get('/accounts');
    expect(text).toContain('/accounts/other');
    expect(text).not.toContain('/accounts/sandbox');
    for (const path of ['/accounts/sandbox', '/accounts/sandbox/live', '/accounts/sandbox/limits'])
      expect([path, (await person.get(path)).status]).toEqual([path, 404]);
    expect((await (await scene.visitor('run')).get('/accounts/sandbox/limits')).status).toBe(403);
  });

  test('that the service refuses says so with its words, as text', async () => {
    await scene.opened.ledger.pool.query(
      `INSERT INTO account_breakers (account, opened_at, retry_at, refusals, reason)
       VALUES ('other', now(), now() + interval '1 hour', 1, $1)`,
      [hostile],
    );
    const page = await scene.browse('/accounts');
    await page.getByRole('alert').getByText('<img src=x').waitFor();
    // None of its runs is running, so nothing goes on by itself.
    await page.getByText('No run of the account is running, so nothing is sent.').waitFor();
    expect(await page.getByText('go on by themselves').count()).toBe(0);
    expect(await page.locator('main img').count()).toBe(0);
    await scene.opened.ledger.pool.query('DELETE FROM account_breakers');
    await page.getByRole('alert').filter({ hasText: 'refused' }).waitFor({ state: 'detached' });
  });

  test('whose file is broken while the page is open is shown with its line, until it is corrected', async () => {
    const page = await scene.browse('/accounts');
    const file = await scene.workspace.read('accounts.yaml');
    await scene.workspace.write('accounts.yaml', file.replace('interface: rest-2.02', 'interface: pigeon'));
    await page.getByText('accounts.yaml:4:16').waitFor();
    const some = await scene.visitor('read', { accounts: ['other'] });
    expect((await some.get('/accounts')).text).not.toContain('accounts.yaml:4');
    await scene.workspace.write('accounts.yaml', file);
    await page.getByText('accounts.yaml:4:16').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'sandbox', exact: true }).waitFor();
  });

  test.each(['0', '-1', '1e9', 'ten', '9999999'])(
    'is refused the limit %s, and keeps what was written',
    async (limit) => {
      const person = await scene.visitor('admin');
      const answer = await person.send('/accounts/sandbox/limits', { requestsPerSecond: limit, reason: 'x' });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain(`value="${limit}"`);
    },
  );
});

describe('a token', () => {
  test('is created and shown once, works, and is revoked with its sessions', async () => {
    const chief = await scene.visitor('admin', { owner: 'chief' });
    const created = await chief.send('/tokens/new', {
      name: 'night-desk',
      owner: 'dee',
      scope: 'run',
      expires: '30d',
      accounts: '',
    });
    const token = /volley_[0-9a-f]{48}/.exec(created.text)?.[0] ?? '';
    expect(created.headers.get('cache-control')).toBe('no-store');
    expect((await chief.get('/tokens')).text).not.toContain(token);
    const dee = await signIn(scene.url, token);
    expect((await dee.get('/')).text).toContain('<bdi>dee</bdi>');
    const revoked = await chief.send('/tokens/night-desk/revoke', { reason: 'left the company' });
    expect(revoked.status).toBe(303);
    expect((await dee.get('/')).status).toBe(303);
    expect(await lastAudit()).toMatchObject({
      action: 'token revoked',
      details: { reason: 'left the company' },
    });
  });

  test('is refused with what is wrong, and keeps what was written', async () => {
    const chief = await scene.visitor('admin');
    const answer = await chief.send('/tokens/new', {
      name: 'x',
      owner: 'Eve <b>',
      scope: 'god',
      expires: '30d',
    });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('Expected one of read, search, run, approve, admin');
    expect(answer.text).toContain('Eve &lt;b&gt;');
  });

  test('is created once by a form that is sent twice', async () => {
    const chief = await scene.visitor('admin');
    const form = await chief.get('/tokens/new');
    const fields = {
      ...hiddenFields(form.text),
      name: 'twice',
      owner: 'eve',
      scope: 'read',
      expires: 'never',
    };
    const answers = await Promise.all([1, 2].map(() => chief.post('/tokens/new', fields)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 422]);
    expect((await chief.get('/tokens')).text.match(/\/tokens\/twice\/revoke/g)?.length).toBe(1);
  });

  test('is created by the keyboard alone, and its page, which no browser keeps, is accessible', async () => {
    const page = await scene.browse('/tokens');
    await page.getByRole('link', { name: 'Create a token' }).press('Enter');
    await page.getByLabel('Name').fill('keys');
    await page.getByLabel('Owner').fill(hostile.replace('\u202e', ''));
    await page.getByLabel('Expires after').press('Enter');
    await page.getByText(/^volley_[0-9a-f]{48}$/).waitFor();
    expect(await findProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'Tokens', exact: true }).first().press('Enter');
    await page.getByText('<img src=x').waitFor();
    expect(await page.getByText(/volley_[0-9a-f]{48}/).count()).toBe(0);
  });

  test('says before it is revoked how many sessions end, and signs its own person out', async () => {
    const token = await scene.tokenOf('admin', { owner: 'fay' });
    const [fay] = [await signIn(scene.url, token), await signIn(scene.url, token)];
    const name =
      (await listTokens(scene.opened.ledger.pool)).find(({ owner }) => owner === 'fay')?.name ?? '';
    const path = `/tokens/${encodeURIComponent(name)}/revoke`;
    const { text } = await fay.get(path);
    expect(text).toContain('<strong>2 sessions</strong>');
    expect(text).toContain('you are signed out');
    expect((await fay.send(path, { reason: ' ' })).status).toBe(422);
    expect((await fay.send(path, { reason: 'left' })).status).toBe(303);
    expect((await fay.get('/tokens')).headers.get('location')).toContain('/sign-in');
  });

  test('for some accounts sees neither tokens nor the audit trail', async () => {
    const person = await scene.visitor('admin', { accounts: ['sandbox'] });
    for (const path of ['/tokens', '/tokens/new', '/audit'])
      expect((await person.get(path)).status).toBe(403);
  });
});

test('the audit trail is searched by outcome, token and days, in pages, and shows hostile text as text', async () => {
  const { pool } = scene.opened.ledger;
  await pool.query(
    `INSERT INTO audit (at, actor, via, token, action, subject, details, outcome)
     SELECT '2001-02-03T23:30:00Z'::timestamptz + number * interval '1 minute', $1, 'api', 'old-token', 'limits set',
            $1, json_build_object('why', $1 || repeat('x', 10000)), 'refused'
     FROM generate_series(1, 150) number`,
    [hostile],
  );
  const chief = await scene.visitor('admin');
  const count = async (query: string): Promise<number> =>
    ((await chief.get(`/audit?${query}`)).text.match(/<tr><th scope="row"/g) ?? []).length;
  expect(await count('token=old-token&outcome=refused')).toBe(100);
  expect(await count('token=old-token&outcome=done')).toBe(0);
  expect(await count('token=old-token&since=2001-02-03&until=2001-02-03')).toBe(29);
  expect(await count('since=2001-02-05&until=2001-02-05')).toBe(0);
  expect((await chief.get('/audit?since=soon')).text).toContain('Expected a date such as');
  expect((await chief.get('/audit?run=x&before=x&action=y&since=0000-01-01')).status).toBe(200);

  const page = await scene.browse('/audit?token=old-token', { width: 360 });
  await page.getByRole('link', { name: 'Older entries' }).press('Enter');
  await page.getByRole('link', { name: 'Newest entries' }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(50);
  expect(await page.locator('main img').count()).toBe(0);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
});

test('a download of the audit trail is what the command line writes', async () => {
  const chief = await scene.visitor('admin');
  const { text } = await chief.get('/audit/download?format=csv&action=limits+set');
  const { stdout } = await scene.command(['audit', '--action', 'limits set', '--format', 'csv']);
  expect(text).toBe(stdout);
  const created = await scene.command(['audit', '--action', 'token created', '--format', 'csv']);
  expect(created.stdout).toContain('accounts: other');
  expect((await (await scene.visitor('run')).get('/audit/download?format=csv')).status).toBe(403);
});

describe('health', () => {
  test('shows each worker with its machine, its process and what it holds, and what the checks find', async () => {
    const starter = await scene.visitor('run');
    const { headers } = await starter.send('/campaigns/slow.yaml/start', {});
    const run = headers.get('location')?.replace('/runs/', '') ?? '';
    const page = await scene.browse('/health', { scope: 'read' });
    await page.getByRole('heading', { name: 'Workers: 1' }).waitFor();
    const row = page.getByRole('row', { name: new RegExp(`${hostname().slice(0, 40)}/${process.pid}`) });
    await row.getByRole('link', { name: run }).waitFor();
    await page.getByRole('rowheader', { name: 'migrations' }).waitFor();
    await page.getByText('/readyz answers 200').waitFor();

    const { text } = await (await scene.visitor('read', { accounts: ['other'] })).get('/health');
    expect(text).toContain('of another account');
    expect(text).not.toContain(run);
    expect(text).not.toContain('migrations');
    await starter.send(`/runs/${run}/cancel`, { reason: 'over' });
  });
});
