import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { findRun, listRuns } from '../../../src/ledger/runs/find.ts';
import { digestOf } from '../../../src/platform/digest.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  signIn,
  type Visitor,
} from '../../support/dashboard-scene.ts';
import { encode } from '../../support/encode.ts';
import { hostileNames } from '../../support/pages.ts';
import { startVolley } from '../../support/volley.ts';
import { sheetData, workbookOf } from '../../support/workbooks.ts';
import { accountsYaml, noRepeatCampaignYaml, smsCampaignYaml } from '../../support/workspace.ts';

const needs = `campaign: members
account: sandbox
channel: sms
contacts: { file: missing.csv, country: AU, columns: { Recipient: Phone } }
message: { Message: "Dear [[First Name|member]], your plan [[Plan]] ends", SubAccount: "[[SubAccount]]", ChargeCode: "[[ChargeCode]]" }
`;

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene({
    words: ['--uploads'],
    files: {
      'accounts.yaml': `${accountsYaml}${accountsYaml.replace('\naccounts:\n  sandbox:', '  other:')}`,
      'campaigns/members.yaml': needs,
      'campaigns/watched.yaml': `${needs.replace('campaign: members', 'campaign: watched')}approval: required\n`,
      'campaigns/once.yaml': noRepeatCampaignYaml.replace('campaign: test', 'campaign: once'),
      'campaigns/of-other.yaml': smsCampaignYaml
        .replace('account: sandbox', 'account: other')
        .replace('campaign: test', 'campaign: of-other'),
    },
  });
});
afterAll(() => scene[Symbol.asyncDispose]());

const header = ['Mobile', 'First name', 'sub account', 'Charge code', 'Tariff', 'Note'];
const members = [
  ['0412 000 001', 'Ann', 'North', 'C1', 'Gold', 'first'],
  ['12', 'Bob', 'North', 'C1', 'Gold', ''],
  ['0412000003', '', 'South', 'C2', 'Blue', ''],
  ['0412000001', 'Ann', 'North', 'C1', 'Gold', 'again'],
];
const code = (name: string): string => Buffer.from(name).toString('base64url');
const csvOf = (rows: readonly (readonly string[])[]): string =>
  [header, ...rows].map((row) => `${row.join(',')}\n`).join('');

type Upload = { readonly name: string; readonly bytes: string | Uint8Array };

async function bring(page: Page, { name, bytes }: Upload): Promise<void> {
  const buffer = Buffer.from(bytes);
  await page.getByLabel('The list').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
  await page.getByRole('button', { name: 'Match its columns' }).press('Enter');
  await page.waitForLoadState();
}

/** Sends the form of a person without a browser. */
async function post(
  person: Visitor,
  file: string,
  { name, bytes }: Upload,
  csrf?: string,
): Promise<{ readonly status: number; readonly location: string; readonly text: string }> {
  const form = new FormData();
  form.set('csrf', csrf ?? hiddenFields((await person.get('/zone')).text)['csrf'] ?? '');
  form.set('list', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
  const answer = await fetch(`${scene.url}/campaigns/${file}/list`, {
    method: 'POST',
    body: form,
    redirect: 'manual',
    headers: { cookie: person.cookies(), origin: scene.url },
  });
  return { status: answer.status, location: answer.headers.get('location') ?? '', text: await answer.text() };
}

/** The files that this process keeps. */
function keptFiles(): string[] {
  const own = readdirSync(tmpdir()).filter((name) => name.startsWith(`volley-lists-${process.pid}`));
  return own.flatMap((folder) =>
    readdirSync(join(tmpdir(), folder)).map((name) => join(tmpdir(), folder, name)),
  );
}

const runOf = (page: Page): string => /\/runs\/([\w-]+)$/.exec(page.url())?.[1] ?? '';
const main = (page: Page) => page.getByRole('main').textContent();
const seePlan = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'See the plan' }).press('Enter');
  await page.getByRole('button', { name: 'Start the run' }).waitFor({ timeout: 30_000 });
};
const runs = async () => (await listRuns(scene.opened.ledger.knex, 100)).length;

describe('a campaign is sent to another list', () => {
  test('a CSV file without JavaScript: from the page of the campaign to its run, which is sent', async () => {
    const page = await scene.browse('/campaigns/members.yaml', {
      scope: 'run',
      owner: 'bea',
      javaScript: false,
    });
    await page.getByRole('link', { name: 'Send to another list' }).press('Enter');
    await bring(page, { name: 'members.csv', bytes: csvOf(members) });
    expect(await page.getByLabel('Phone (the address)').inputValue()).toBe(code('Mobile'));
    expect(await page.getByLabel('First Name').inputValue()).toBe(code('First name'));
    expect(await page.getByLabel('SubAccount').inputValue()).toBe(code('sub account'));
    expect(await main(page)).toContain('The list begins with: 0412 000 001, 12, 0412000003');
    // No column is called like Plan, so the browser does not send the form.
    expect(await page.getByLabel('Plan').inputValue()).toBe('');
    expect(await page.getByText('No column of the list has a name like this').count()).toBe(1);
    await page.getByLabel('Plan').selectOption({ label: 'Tariff' });
    await seePlan(page);
    const left = page.getByRole('table', { name: 'Left out: invalid, column Phone' });
    await page.locator('summary', { hasText: 'invalid, column Phone' }).click();
    expect(await left.getByRole('row').nth(1).textContent()).toMatch(/members\.csv.*3.*"12" is not a number/);
    await page.locator('summary', { hasText: 'duplicate' }).click();
    const repeated = page.getByRole('table', { name: /Left out: duplicate/ });
    expect(await repeated.getByRole('row').nth(1).textContent()).toMatch(/5.*same address as line 2/);
    expect(await main(page)).toContain('Its contacts are those of members.csv');
    expect(await main(page)).toContain('Dear Ann, your plan Gold ends');
    expect(keptFiles()).toHaveLength(1);
    expect(statSync(keptFiles()[0] ?? '').mode & 0o077).toBe(0);
    await page.getByRole('button', { name: 'Start the run' }).press('Enter');
    await page.waitForURL(/\/runs\/[\w-]+$/);
    expect(keptFiles()).toEqual([]);
    const run = runOf(page);
    await expect
      .poll(async () => (await findRun(scene.opened.ledger.knex, run))?.state, { timeout: 20_000 })
      .toBe('completed');
    const [planned] = await listAudit(scene.opened.ledger.pool, { run, action: 'run planned' }, 1);
    expect(planned).toMatchObject({ who: 'bea', how: 'dashboard' });
    expect(planned?.details).toMatchObject({
      file: 'campaigns/members.yaml',
      list: 'members.csv',
      bytes: Buffer.byteLength(csvOf(members)),
      sha256: digestOf(csvOf(members)).toString('hex'),
    });
    expect(await scene.workspace.read('campaigns/members.yaml')).toBe(needs);
  });

  test('a workbook with JavaScript: another sheet, another column, and a run that waits for approval', async () => {
    const page = await scene.browse('/campaigns/watched.yaml/list', { scope: 'run', owner: 'bea' });
    const notes = sheetData(['Read me'], ['nothing']);
    const rows = [header, ['0412 000 011', 'Cy', 'West', 'C9', '=HYPERLINK("http://x")', '<b>n</b>']];
    const bytes = await workbookOf({
      sheets: [
        { name: 'Notes', data: notes },
        { name: 'Members', data: sheetData(...rows) },
      ],
    });
    await bring(page, { name: 'members.xlsx', bytes });
    await page.getByText('How the list is read').click();
    await page.getByLabel('Sheet').fill('Members');
    await page.getByRole('button', { name: 'Match again' }).click();
    await page.getByLabel('Plan').selectOption({ label: 'Charge code' });
    await page.getByRole('button', { name: 'Match again' }).click();
    expect(await main(page)).toContain('The campaign does not use: Tariff, Note.');
    await page.getByLabel('Plan').selectOption({ label: 'Tariff' });
    await seePlan(page);
    expect(await main(page)).toContain('your plan =HYPERLINK("http://x") ends');
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByText('The run is planned, and waits for approval.').waitFor();
    const run = runOf(page);
    // A file of that name in the folder of the command is another one.
    await scene.workspace.write('members.xlsx', 'another');
    const approver = await scene.visitor('approve', { owner: 'cleo' });
    expect((await approver.send(`/runs/${run}/approve`, { reason: 'looked at' })).status).toBe(303);
    await expect
      .poll(async () => (await findRun(scene.opened.ledger.knex, run))?.state, { timeout: 20_000 })
      .toBe('completed');
    const report = await scene.command(['report', 'contacts', run, '--format', 'csv']);
    expect(report.stdout).toContain('Phone,First Name,SubAccount,ChargeCode,Plan,Note,');
    expect(report.stdout).toContain(`0412 000 011,Cy,West,C9,"'=HYPERLINK(""http://x"")",<b>n</b>,${run},`);
  });

  test('its run is sent by a later command, and continued by another, though the file is gone', async () => {
    await using idle = await openDashboardScene({ words: ['--uploads', '--no-worker', '--no-schedules'] });
    const page = await idle.browse('/campaigns/test.yaml/list', { scope: 'run' });
    await bring(page, { name: 'later.csv', bytes: 'Cell,name,code\n0412000001,Di,C\n0412000021,Eve,C\n' });
    await seePlan(page);
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.waitForURL(/\/runs\/[\w-]+$/);
    expect(keptFiles()).toEqual([]);
    const run = runOf(page);
    const resumed = await idle.command(['resume', run, '--json']);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ run, state: 'completed', requests: { accepted: 2 } });
    // Its own file has four contacts, one of which the list had too.
    const rest = await idle.command(['run', 'campaigns/test.yaml', '--of', run, '--json']);
    expect(JSON.parse(rest.stdout)).toMatchObject({ state: 'completed' });
  });

  test('the same list twice is warned of, and started all the same when the person decides so', async () => {
    const list = { name: 'twice.csv', bytes: 'mobile,name,code\n0412000031,Ed,C1\n' };
    for (const isAgain of [false, true]) {
      const page = await scene.browse('/campaigns/once.yaml/list', { scope: 'run' });
      await bring(page, list);
      await seePlan(page);
      expect(await page.getByText('These contacts had a run before.').count()).toBe(isAgain ? 1 : 0);
      const before = await runs();
      await page.getByRole('button', { name: 'Start the run' }).click();
      await page.waitForURL(/\/runs\/[\w-]+$/);
      expect(await runs()).toBe(before + 1);
    }
  });

  test('a form that is sent again opens the run that it started, when the list is gone', async () => {
    const person = await scene.visitor('run');
    const { location } = await post(person, 'test.yaml', {
      name: 'a.csv',
      bytes: 'mobile,name,code\n0412000041,Flo,C\n',
    });
    const path = `${location}/start`;
    await expect
      .poll(async () => (await person.get(path)).text, { timeout: 30_000 })
      .toContain('name="plan"');
    const { text } = await person.get(path);
    const fields = [...text.matchAll(/name="(plan|csrf)" value="([^"]+)"/g)];
    const form = Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
    const before = await runs();
    const first = await person.post(path, form);
    const second = await person.post(path, form);
    expect([first.status, second.status]).toEqual([303, 303]);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(await runs()).toBe(before + 1);
    expect((await person.get(path)).status).toBe(404);
  });

  test('the pages are accessible, and whole at 320 pixels', async () => {
    const page = await scene.browse('/campaigns/members.yaml/list', { scope: 'run', width: 320 });
    await expectAccessible(page);
    await bring(page, { name: `${'x'.repeat(100)}.csv`, bytes: csvOf(members) });
    await expectAccessible(page);
    await page.getByLabel('Plan').selectOption({ label: 'Tariff' });
    await seePlan(page);
    await expectAccessible(page);
    await page.goto(`${page.url().replace(/\/start.*/, '')}?sheet=none&skipLines=99`);
    expect(await page.getByRole('alert').textContent()).toContain('The list cannot be matched.');
    await expectAccessible(page);
  });
});

describe('a hostile list', () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0]);
  const bomb = async () =>
    workbookOf(sheetData(header), {
      parts: { 'xl/sharedStrings.xml': `<sst>${'<si><t>a</t></si>'.repeat(5_000_000)}</sst>` },
    });
  const cases: readonly (readonly [
    string,
    string,
    () => Promise<string | Uint8Array> | string | Uint8Array,
    RegExp,
  ])[] = [
    ['a picture', 'photo.csv', () => png, /PNG|not CSV|picture|image/i],
    ['nothing', 'empty.csv', () => '', /The file is empty/],
    [
      'a packed file that unpacks to far more',
      'bomb.csv.gz',
      () =>
        gzipSync(
          Buffer.from(`mobile,name,code,note\n${`0412000000,A,B,${'A'.repeat(50_000)}\n`.repeat(1_800)}`),
        ),
      /expands|larger than 64 MB/,
    ],
    ['a workbook that unpacks to far more', 'bomb.xlsx', bomb, /expands|larger than 64 MB/],
    [
      'half a workbook',
      'half.xlsx',
      async () => (await workbookOf(sheetData(header))).subarray(0, 400),
      /half\.xlsx/,
    ],
    [
      'half a packed file',
      'half.csv.gz',
      () => gzipSync(Buffer.from(csvOf(members))).subarray(0, 60),
      /ends too early/,
    ],
    ['UTF-16 without a mark', 'utf16.csv', () => Buffer.from(csvOf(members), 'utf16le'), /“Encoding”/],
    ['two columns of one name', 'twice.csv', () => 'Mobile,Mobile\n1,2\n', /both named "Mobile"/],
    [
      'a title above the header',
      'title.csv',
      () => `Members of the north\n${csvOf(members)}`,
      /“Lines before the header”: 1/,
    ],
    [
      'very many long columns',
      'wide.csv',
      () => `${Array.from({ length: 1_500 }, (_, index) => `column ${index} of the list`).join(',')}\n`,
      /more than 20,000 characters/,
    ],
  ];
  test.each(cases)(
    '%s is refused with the reason, and the process goes on',
    async (_, name, bytes, words) => {
      const person = await scene.visitor('run', { owner: `person ${name}` });
      const { location } = await post(person, 'test.yaml', { name, bytes: await bytes() });
      const match = await person.get(location);
      let plan = '';
      const openPlan = async (): Promise<string> => {
        plan = (await person.get(`${location}/start`)).text;
        return plan;
      };
      await expect.poll(openPlan, { timeout: 30_000 }).toContain('not possible now');
      const texts = `${match.text} ${plan}`.replaceAll(/&quot;|&#34;/g, '"');
      expect([match.status, texts]).toEqual([200, expect.stringMatching(words)]);
    },
  );

  test.each([
    ['utf-16le', '\ufeff'],
    ['utf-16be', '\ufeff'],
    ['utf-8', '\ufeff'],
    ['windows-1252', ''],
  ] as const)('names in %s are read', async (encoding, mark) => {
    const person = await scene.visitor('run', { owner: 'zoë' });
    const bytes = encode(`${mark}mobile,name,code\n0412000051,Zoë Müller,C\n`, encoding);
    const { location } = await post(person, 'test.yaml', { name: 'z.csv', bytes });
    expect((await person.get(location)).text).toContain('Zoë Müller');
  });

  test('hostile names of files and columns are text, and lead to a run', async () => {
    const file = '../../<img src=x onerror=alert(1)>\u202e.csv';
    const [script = '', image = '', formula = ''] = hostileNames;
    const column = `${script} \u202e`;
    const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const bytes = `${quoted(column)},${quoted(image)},name\n0412000061,${quoted(formula)},${quoted('<b>Gus</b>')}\n`;
    const page = await scene.browse('/campaigns/test.yaml/list', { scope: 'run' });
    await bring(page, { name: file, bytes });
    await page.getByLabel('mobile (the address)').selectOption({ index: 1 });
    await page.getByLabel('code').selectOption({ index: 2 });
    expect(await page.locator('main :is(script, img, b)').count()).toBe(0);
    await seePlan(page);
    expect(await page.locator('main :is(script, img, b)').count()).toBe(0);
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.waitForURL(/\/runs\/[\w-]+$/);
    const [planned] = await listAudit(
      scene.opened.ledger.pool,
      { run: runOf(page), action: 'run planned' },
      1,
    );
    expect(planned?.details['list']).toBe('<img src=x onerror=alert(1)>\u202e.csv');
  });

  test('of more than 32 MB is refused, and nothing of it is kept', async () => {
    const person = await scene.visitor('run', { owner: 'large' });
    const before = keptFiles().length;
    const answer = await post(person, 'test.yaml', {
      name: 'l.csv',
      bytes: new Uint8Array(32 * 1024 * 1024 + 1),
    });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('larger than 32 MB')]);
    expect(keptFiles()).toHaveLength(before);
  });
});

describe('the right to bring a list', () => {
  const list = { name: 'x.csv', bytes: 'mobile,name,code\n0412000071,Hal,C\n' };

  test('only a person with the scope run, for a campaign of their accounts, with a form of their session', async () => {
    const person = await scene.visitor('run', { owner: 'ivy' });
    const before = keptFiles().length;
    const reader = await scene.visitor('read', { owner: 'ivy' });
    const ofOther = await scene.visitor('run', { owner: 'ivy', accounts: ['other'] });
    expect((await reader.get('/campaigns/test.yaml')).text).not.toContain('Send to another list');
    expect((await reader.get('/campaigns/test.yaml/list')).status).toBe(403);
    // Larger than what a connection holds before its body is read.
    const large = { name: 'x.csv', bytes: `${list.bytes}${'0412000072,Hal,C\n'.repeat(500_000)}` };
    expect((await post(reader, 'test.yaml', large)).status).toBe(403);
    expect((await post(ofOther, 'test.yaml', large)).status).toBe(404);
    expect((await post(person, 'test.yaml', large, 'another')).status).toBe(403);
    expect((await post(person, 'none.yaml', list)).status).toBe(404);
    expect(keptFiles()).toHaveLength(before);
    const { location, status } = await post(person, 'test.yaml', list);
    expect(status).toBe(303);
    const other = await scene.visitor('run', { owner: 'jo' });
    for (const path of [location, `${location}/start`]) {
      expect([path, (await other.get(path)).status]).toEqual([path, 404]);
      expect([path, (await reader.get(path)).status]).toEqual([path, 403]);
      expect([path, (await ofOther.get(path)).status]).toEqual([path, 404]);
    }
    expect((await person.get(location)).status).toBe(200);
  });

  test('a person has one list at a time, also when several arrive at once', async () => {
    const person = await scene.visitor('run', { owner: 'kim' });
    const first = await post(person, 'test.yaml', list);
    const before = keptFiles().length;
    const all = await Promise.all(Array.from({ length: 8 }, () => post(person, 'test.yaml', list)));
    expect(all.some(({ status }) => status === 303)).toBe(true);
    expect(keptFiles()).toHaveLength(before);
    expect((await person.get(first.location)).status).toBe(404);
  });

  test('none where the server does not allow it', async () => {
    await using closed = await openDashboardScene({
      words: ['--no-worker', '--no-receiver', '--no-schedules'],
    });
    const person = await closed.visitor('admin');
    expect((await person.get('/campaigns/test.yaml')).text).not.toContain('Send to another list');
    expect((await person.get('/campaigns/test.yaml/list')).status).toBe(404);
  });
});

test('when serve is killed between the list and its start, nothing is left and nothing starts', async () => {
  const TMPDIR = join(scene.workspace.folder, 'temporary');
  mkdirSync(TMPDIR);
  const place = { cwd: scene.workspace.folder, env: { ...scene.environment, TMPDIR } };
  const words = [
    'serve',
    '--uploads',
    '--no-worker',
    '--no-receiver',
    '--no-schedules',
    '--port',
    '0',
    '--api-port',
    '0',
  ];
  const open = async () => {
    const serve = startVolley(words, place);
    await serve.waitForText('Dashboard: ');
    return { serve, url: /^Dashboard: (\S+)\/$/m.exec(serve.stderrSoFar())?.[1] ?? '' };
  };
  const first = await open();
  const person = await signIn(first.url, await scene.tokenOf('run', { owner: 'lee' }));
  const form = new FormData();
  form.set('csrf', hiddenFields((await person.get('/zone')).text)['csrf'] ?? '');
  form.set('list', new Blob(['mobile,name,code\n0412000081,Max,C\n']), 'k.csv');
  const headers = { cookie: person.cookies(), origin: first.url };
  const sent = await fetch(`${first.url}/campaigns/test.yaml/list`, {
    method: 'POST',
    body: form,
    headers,
    redirect: 'manual',
  });
  const path = sent.headers.get('location') ?? '';
  await expect
    .poll(async () => (await person.get(`${path}/start`)).text, { timeout: 30_000 })
    .toContain('Start the run');
  const folders = () => readdirSync(TMPDIR).filter((name) => name.startsWith('volley-lists-'));
  expect(folders()).toHaveLength(1);
  const before = await runs();
  first.serve.process.kill('SIGKILL');
  await first.serve.ended;
  const second = await open();
  expect(folders()).toEqual([]);
  const again = await signIn(second.url, await scene.tokenOf('run', { owner: 'lee' }));
  expect((await again.get(`${path}/start`)).status).toBe(404);
  expect(await runs()).toBe(before);
  second.serve.process.kill('SIGTERM');
  await second.serve.ended;
});
