import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listRuns } from '../../src/ledger/runs/find.ts';
import { expectAccessible, findProblems } from '../support/accessibility.ts';
import { type DashboardScene, openDashboardScene } from '../support/dashboard-scene.ts';
import { accountsYaml, noRepeatCampaignYaml } from '../support/workspace.ts';

/** Names that a campaign, a contact file and a person can bring. */
const hostile = {
  account: 'sandbox',
  reference: `<script>alert(1)</script>"><img src=x> ${'W'.repeat(300)} \u202eevil مدرسة 🎉`,
};

const pages = [
  '/',
  '/?q=nothing',
  '/runs/RUN',
  '/runs/RUN/recipients',
  '/runs/RUN/recipients?state=not+accepted',
  '/runs/RUN/recipients?state=left+out',
  '/runs/RUN/recipients/2',
  '/runs/WAITING/recipients/2',
  '/runs/RUN/rerun?only=failed&recipient=2',
  '/runs/RUN/doubts',
  '/runs/RUN/plan',
  '/runs/WAITING/plan',
  '/runs/RUN/pause',
  '/runs/RUN/cancel',
  '/runs/RUN/rerun?only=failed',
  '/campaigns',
  '/campaigns/test.yaml',
  '/campaigns/faulty.yaml',
  '/campaigns/test.yaml/start',
  '/accounts',
  '/accounts/sandbox',
  '/accounts/sandbox/limits',
  '/billing',
  '/billing/months',
  '/billing/reconcile',
  '/recipients',
  '/recipients?q=0412000001',
  '/recipients?q=bob',
  '/suppressions',
  '/delivery-reports',
  '/audit',
  '/tokens',
  '/tokens/new',
  '/sessions',
  '/health',
  '/zone',
  '/nowhere',
];

let scene: DashboardScene;
let page: Page;
let run: string;
let waiting: string;
beforeAll(async () => {
  scene = await openDashboardScene({
    sandbox: { failRate: 0.3 },
    files: {
      'accounts.yaml': `${accountsYaml}${accountsYaml.replace('\naccounts:\n  sandbox:', `  ${'long-'.repeat(12)}name:`)}`,
      [`campaigns/${'L'.repeat(100)}.yaml`]: 'campaign: 1\n',
      'campaigns/scheduled.yaml': `${noRepeatCampaignYaml}schedule: { cron: "0 2 * * *", timeZone: Australia/Sydney }\n`,
      'campaigns/letter.yaml': `campaign: letter
account: sandbox
channel: email
approval: required
contacts: { file: people.csv, columns: { Recipient: mail } }
message:
  EmailSubject: "Dear [[name]]"
  MessageHTML: "<h1>Hello [[name]]</h1><script>alert(1)</script>"
  MessagePlain: "Hello [[name]]"
dispatch: { chunkSize: 1 }
`,
      'campaigns/people.csv': 'mail,name\nann@example.org,<b>Ann</b>\nbob@example.org,مدرسة\n',
      'campaigns/faulty.yaml': 'campaign: <b>x</b>\nchanel: sms\n',
      'campaigns/long.yaml': noRepeatCampaignYaml
        .replace(
          'Message: "Hello [[name]]"',
          `Message: "Hello"\n  Reference: ${JSON.stringify(hostile.reference)}`,
        )
        .replace('retries: 2', 'retries: 1'),
      'campaigns/contacts.csv': `mobile,name,code\n0412000001,Ann,"<script>alert(1)</script>"\n0412000002,Bob,${'W'.repeat(200)}\n0412000003,Cyd,مدرسة\nnonsense,Dan,C1\n`,
    },
  });
  await scene.command(['run', 'campaigns/test.yaml']);
  await scene.command(['schedule', 'sync', '--campaigns', 'campaigns']);
  run = (await listRuns(scene.opened.ledger.knex, 1))[0]?.run ?? '';
  await scene.command(['run', 'campaigns/letter.yaml']);
  waiting = (await listRuns(scene.opened.ledger.knex, 1))[0]?.run ?? '';
  page = await scene.browse('/');
});
afterAll(() => scene[Symbol.asyncDispose]());

test.each(pages)(
  '%s is accessible, light and dark, whole at 768 and 320 pixels with no table cut, and shows markup as text',
  async (path) => {
    const answer = await page.goto(`${scene.url}${path.replace('RUN', run).replace('WAITING', waiting)}`);
    expect(answer?.status()).toBe(path === '/nowhere' ? 404 : 200);
    await expectAccessible(page);
    for (const width of [768, 320]) {
      await page.setViewportSize({ width, height: 640 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    }
    const tables = await page
      .locator('.lines')
      .evaluateAll((all) => all.map((it) => it.scrollWidth - it.clientWidth));
    expect(tables.filter((cut) => cut > 0)).toEqual([]);
    expect(await findProblems(page)).toEqual([]);
    await page.setViewportSize({ width: 1_280, height: 900 });
    expect(await page.locator('main :is(script, img, b)').count()).toBe(0);
    expect(await page.locator('h1').count()).toBe(1);
  },
);

test('fields beside each other are equally high, and stand on one line', async () => {
  await page.setViewportSize({ width: 1_280, height: 900 });
  await page.goto(`${scene.url}/`);
  const fields = page.locator('.filter :is(input:not([type=hidden]), select, button)');
  const boxes = await Promise.all((await fields.all()).map((field) => field.boundingBox()));
  expect(boxes.length).toBeGreaterThan(6);
  expect(new Set(boxes.map((box) => `${box?.y} ${box?.height}`)).size).toBe(1);
});

test('on a phone, a line of a table has the titles beside its cells, and figures stand two in a row', async () => {
  await page.setViewportSize({ width: 360, height: 640 });
  await page.goto(`${scene.url}/`);
  const cell = '#runs tbody td[data-title=Account]';
  const title = `getComputedStyle(document.querySelector('${cell}'), '::before').content`;
  expect(await page.evaluate(title)).toBe('"Account"');
  expect((await page.locator(cell).first().boundingBox())?.width).toBeGreaterThan(300);
  await page.goto(`${scene.url}/runs/${waiting}/plan`);
  const [first, second] = await Promise.all(
    [0, 1].map((index) => page.locator('.figures-list > div').nth(index).boundingBox()),
  );
  expect(second?.y).toBe(first?.y);
});

test('on a phone, the fields of a filter stand two in a row, over the whole width', async () => {
  await page.setViewportSize({ width: 360, height: 640 });
  for (const path of ['/', '/audit', '/billing']) {
    await page.goto(`${scene.url}${path}`);
    for (const fold of await page.locator('.fold:not(.menu) > summary').all()) await fold.click();
    const fields = page.locator('.filter .field :is(input, select)');
    const [first, second] = await Promise.all([0, 1].map((index) => fields.nth(index).boundingBox()));
    expect([path, second?.y]).toEqual([path, first?.y]);
    expect([path, (second?.x ?? 0) + (second?.width ?? 0)]).toEqual([path, 348]);
  }
});

test('tokens of long names and owners fit beside each other at 1280 pixels', async () => {
  await scene.tokenOf('read', { owner: 'W'.repeat(200), accounts: ['A'.repeat(100)] });
  await page.setViewportSize({ width: 1_280, height: 900 });
  await page.goto(`${scene.url}/tokens`);
  const frame = await page.locator('#tokens').evaluate((it) => [it.scrollWidth, it.clientWidth]);
  expect(frame[0]).toBe(frame[1]);
});

test('a label with its hint stands on one line each beside the field of a search', async () => {
  await page.setViewportSize({ width: 1_920, height: 900 });
  await page.goto(`${scene.url}/recipients`);
  const [label, hint] = await Promise.all(
    ['label[for=q]', '#q-hint'].map((each) => page.locator(each).boundingBox()),
  );
  expect(label?.height).toBeLessThan(30);
  expect(hint?.height).toBeLessThan(30);
});

test('the numbers of audit entries leave the room to words', async () => {
  await page.setViewportSize({ width: 1_920, height: 900 });
  await page.goto(`${scene.url}/audit`);
  const entry = await page.getByRole('columnheader', { name: 'Entry' }).boundingBox();
  expect(entry?.width).toBeLessThan(100);
});

test('on a wide screen, a number stands near the name in its line', async () => {
  await page.setViewportSize({ width: 1_920, height: 900 });
  await page.goto(`${scene.url}/runs/${run}`);
  await page.locator('#answers > summary').click();
  const attempts = await page.getByRole('region', { name: 'How attempts ended' }).boundingBox();
  expect(attempts?.width).toBeLessThan(1_000);
});

test('a read token is offered only pages that it may open', async () => {
  const reader = await scene.visitor('read');
  const { text } = await reader.get('/');
  const sections = [
    ...(/<nav aria-label="Sections">.*?<\/nav>/s.exec(text)?.[0] ?? '').matchAll(/href="([^"]+)"/g),
  ];
  expect(sections.length).toBeGreaterThan(4);
  for (const [, path = ''] of sections) expect([path, (await reader.get(path)).status]).toEqual([path, 200]);
  for (const path of [
    '/audit',
    '/tokens',
    '/tokens/new',
    '/accounts/sandbox/limits',
    '/campaigns/test.yaml/start',
  ])
    expect([path, (await reader.get(path)).status]).toEqual([path, 403]);
});

test('an address that cannot be read is answered in plain English', async () => {
  const { status, text } = await (await scene.visitor('read')).get('/?q=%00');
  expect(status).toBe(400);
  expect(text).toMatch(/<h1[^>]*>Not understood</);
});

test('every page works without JavaScript', async () => {
  const visitor = await scene.visitor('admin');
  for (const path of pages.filter((each) => each !== '/nowhere'))
    expect((await visitor.get(path.replace('RUN', run).replace('WAITING', waiting))).text).toContain('<h1');
});
