import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { downloads } from '../../../src/dashboard/run/run-page.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { findRun } from '../../../src/ledger/runs/find.ts';
import { httpFormats, runFormats } from '../../../src/server/api/send-report.ts';
import { expectAccessible, findProblems } from '../../support/accessibility.ts';
import { type DashboardScene, hiddenFields, openDashboardScene } from '../../support/dashboard-scene.ts';
import { type Fault, type FaultyService, startFaultyService } from '../../support/fault-proxy.ts';
import { refuseWith, resetAfterBody, resetInsteadOfForwarding } from '../../support/faults.ts';
import { hostileTexts } from '../../support/live-run.ts';
import { sendDeliveryReport } from '../../support/send-delivery-report.ts';
import { startOverApi } from '../../support/start-over-api.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../../support/workspace.ts';

const contacts = [
  contactsCsv(6).trimEnd(),
  ...hostileTexts.map((text) => `"${text.replaceAll('"', '""')}",Name,C1`),
  '',
].join('\n');

let service: FaultyService;
let scene: DashboardScene;
beforeAll(async () => {
  service = await startFaultyService({ latency: 60 });
  scene = await openDashboardScene({
    environment: { VOLLEY_SANDBOX_URL: service.url },
    files: {
      'campaigns/six.yaml': smsCampaignYaml
        .replace('contacts.csv', 'six.csv')
        .replace('campaign: test', 'campaign: six'),
      'campaigns/six.csv': contacts,
      'campaigns/slow.yaml': smsCampaignYaml
        .replace('contacts.csv', 'many.csv')
        .replace('campaign: test', 'campaign: slow')
        .replace('concurrency: 4', 'concurrency: 1'),
      'campaigns/many.csv': contactsCsv(60),
    },
  });
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const start = async (campaign: string) => startOverApi(scene.url, await scene.tokenOf('run'), campaign);

/** Six requests; the faults are of the first ones. */
async function sendSix(...faults: readonly Fault[]): Promise<string> {
  service.failNext(...faults);
  const run = await start('six.yaml');
  const stateOf = async () => (await findRun(scene.opened.ledger.knex, run))?.state;
  await expect.poll(stateOf, { timeout: 20_000 }).toBe('completed');
  return run;
}

const allInDoubt = Array.from({ length: 6 }, () => resetInsteadOfForwarding);
const countsOf = async (run: string) => (await summariseRun(scene.opened.ledger.pool, run))?.requests;
const resolutionsOf = async (run: string) => {
  const entries = await listAudit(scene.opened.ledger.pool, { run, action: 'requests resolved' }, 20);
  return entries
    .filter(({ outcome }) => outcome === 'done')
    .map(({ who, how, details }) => `${who} (${how}): ${details['reason']}`);
};

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  const focused = wanted.and(page.locator(':focus'));
  for (let presses = 0; presses < 80; presses++) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${wanted}`);
}

test('the page follows a run to its end, without a reload', async () => {
  const run = await start('slow.yaml');
  const page = await scene.browse(`/runs/${run}`);
  await page.getByText(/of 60 requests/).waitFor();
  await page.evaluate(`document.body.dataset.kept = 'yes'`);
  const sent = () => page.getByRole('progressbar', { name: 'Sent' }).getAttribute('value').then(Number);
  const first = await sent();
  expect(first).toBeLessThan(60);
  await expect.poll(sent).toBeGreaterThan(first);
  await page.getByText(/\d requests a second now, \d+ s left/).waitFor();
  const state = page.getByRole('status', { name: 'State of the run' });
  await state.getByText('completed').waitFor({ timeout: 20_000 });
  await page.getByText('60 of 60 requests (100.0 %)').waitFor();
  expect(await page.evaluate('document.body.dataset.kept')).toBe('yes');
});

test('without JavaScript, the first look at a run that has ended shows all its delivery reports and costs', async () => {
  const { get } = await scene.visitor('read');
  const run = await start('slow.yaml');
  expect((await get(`/runs/${run}`)).text).toContain('What came of it');
  const stateOf = async () => (await findRun(scene.opened.ledger.knex, run))?.state;
  await expect.poll(stateOf, { timeout: 20_000 }).toBe('completed');
  const { pool } = scene.opened.ledger;
  const { rows } = await pool.query<{ messageId: string }>(
    'SELECT message_id AS "messageId" FROM requests_between($1, 1, 60) ORDER BY request',
    [run],
  );
  for (const [index, { messageId }] of rows.entries()) {
    const destination = `+614120${String(index).padStart(5, '0')}`;
    await sendDeliveryReport(scene.webhookUrl, { messageId, destination });
  }
  const applied = async () =>
    (await pool.query('SELECT FROM recipient_outcomes WHERE run_id = $1', [run])).rowCount;
  await expect.poll(applied).toBe(60);
  const { text } = await get(`/runs/${run}`);
  expect(text).toContain('aria-label="60 delivered">60</a>');
  expect(text).toContain('<dd>100.0 % <small>of what was accepted');
  // 0.08 for each.
  expect(text).toMatch(/Cost so far<\/dt><dd>4\.80?\b/);
});

test('doubts are resolved one, many and all, with the keyboard alone', async () => {
  const run = await sendSix(...allInDoubt);
  const page = await scene.browse(`/runs/${run}`, { owner: 'bea' });
  await tabTo(page, page.getByRole('link', { name: 'Resolve doubts' }));
  await page.keyboard.press('Enter');
  const decide = async (decision: string, chosen: readonly string[], reason: string, people: string) => {
    await page.getByRole('heading', { name: 'Requests in doubt' }).waitFor();
    // Arrows move within the choices, the first of which cannot be chosen.
    await tabTo(page, page.getByLabel('Count as accepted'));
    await page.keyboard.press('Space');
    if (decision !== 'Count as accepted') await page.keyboard.press('ArrowDown');
    if (decision === 'Give up') await page.keyboard.press('ArrowDown');
    expect(await page.getByLabel(decision).isChecked()).toBe(true);
    const name = chosen.length > 0 ? 'Go on with the chosen requests' : /Go on with all/;
    for (const request of chosen) {
      await tabTo(page, page.getByLabel(request, { exact: true }));
      await page.keyboard.press('Space');
    }
    await tabTo(page, page.getByRole('button', { name }));
    await page.keyboard.press('Enter');
    await page.getByText(people).waitFor();
    await tabTo(page, page.getByLabel('Reason'));
    await page.keyboard.type(reason);
    await page.keyboard.press('Enter');
    await page.locator('.notice').waitFor();
  };
  await decide('Count as accepted', ['2'], 'the service lists it', '1 request with 1 recipient');
  await decide('Give up', ['3', '5'], 'too late for these', '2 requests with 2 recipients');
  await decide('Send again', [], 'the service never had them', '3 requests with 3 recipients');
  await tabTo(page, page.getByRole('link', { name: 'Resume' }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByLabel('Reason'));
  await page.keyboard.type('send them');
  await page.keyboard.press('Enter');
  await expect
    .poll(() => countsOf(run), { timeout: 15_000 })
    .toMatchObject({ accepted: 4, abandoned: 2, in_doubt: 0 });
  expect(await resolutionsOf(run)).toEqual([
    'bea (dashboard): the service never had them',
    'bea (dashboard): too late for these',
    'bea (dashboard): the service lists it',
  ]);
});

test('doubts are decided for all requests with one answer', async () => {
  const run = await sendSix(...allInDoubt);
  const page = await scene.browse(`/runs/${run}/doubts`);
  await page.getByText('6 requests in doubt').waitFor();
  expect(await page.getByRole('button', { name: /Go on with these/ }).count()).toBe(0);
  await scene.opened.ledger.pool.query(
    `UPDATE requests SET reason = to_jsonb('HTTP 404, text/html: <p>' || request) WHERE run_id = $1 AND request < 3`,
    [run],
  );
  await page.reload();
  await page.getByLabel('Give up').check();
  expect(await findProblems(page)).toEqual([]);
  await page
    .getByRole('row', { name: 'HTTP 404, text/html' })
    .getByRole('button', { name: 'Go on with these 2 requests' })
    .click();
  await page.getByText('2 requests with 2 recipients').waitFor();
  await page.getByLabel('Reason').fill('another server answered');
  await page.getByRole('button', { name: 'Give up' }).click();
  await page.getByText('4 requests in doubt').waitFor();
  expect(await countsOf(run)).toMatchObject({ in_doubt: 4, abandoned: 2 });
});

test('a person who chose no request is led back to the list, which says why the service cannot be asked', async () => {
  const run = await sendSix(resetInsteadOfForwarding);
  const page = await scene.browse(`/runs/${run}/doubts`);
  const refused = await page.locator('#about-ask').textContent();
  expect(refused).toMatch(/^The account does not enable the status look-up/);
  await page.getByLabel('Give up').check();
  await page.getByRole('button', { name: 'Go on with the chosen requests' }).click();
  await page.getByText('Choose at least one request, or go on with all of them.').waitFor();
  expect(await findProblems(page)).toEqual([]);
  await page.getByRole('link', { name: 'Back to Doubts of six' }).click();
  await page.getByRole('heading', { name: 'Requests in doubt' }).waitFor();
});

test('without JavaScript, the service is asked about doubts, and the rest is decided', async () => {
  const run = await sendSix(resetInsteadOfForwarding, resetAfterBody);
  await scene.workspace.write('accounts.yaml', `${accountsYaml}    statusLookUp: on\n`);
  try {
    const page = await scene.browse(`/runs/${run}/doubts`, { javaScript: false });
    await page.getByLabel('Ask the service').check();
    await page.getByRole('button', { name: 'Go on with all 2 requests' }).click();
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.getByText('The service is being asked about 2 requests').waitFor();
    await expect.poll(() => countsOf(run), { timeout: 15_000 }).toMatchObject({ in_doubt: 1, accepted: 5 });
    await expect
      .poll(async () => (await page.reload()) && page.locator('#look-up').textContent(), { timeout: 15_000 })
      .toContain('The service was asked');
    await page.getByLabel('Give up').check();
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Go on with the chosen requests' }).click();
    await page.getByLabel('Reason').fill('it does not have it');
    await page.getByRole('button', { name: 'Give up' }).click();
    await page.getByText('No request of run').waitFor();
    expect(await countsOf(run)).toMatchObject({ in_doubt: 0, abandoned: 1 });
  } finally {
    await scene.workspace.write('accounts.yaml', accountsYaml);
  }
});

test('the page of doubts follows how far the service was asked, without a reload', async () => {
  const run = await sendSix(resetAfterBody);
  await scene.workspace.write('accounts.yaml', `${accountsYaml}    statusLookUp: on\n`);
  try {
    const page = await scene.browse(`/runs/${run}/doubts`);
    await page.getByLabel('Ask the service').check();
    await page.getByRole('button', { name: 'Go on with the only request' }).click();
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.getByText('1 request found and accepted').waitFor({ timeout: 15_000 });
    expect(await findProblems(page)).toEqual([]);
    await page.getByRole('link', { name: 'List what is still in doubt' }).click();
    await page.getByText('No request of run').waitFor();
  } finally {
    await scene.workspace.write('accounts.yaml', accountsYaml);
  }
});

test('doubts are decided once, when two people decide at once and when a form is sent again', async () => {
  const run = await sendSix(...allInDoubt);
  const [bea, cyd] = [
    await scene.visitor('admin', { owner: 'bea' }),
    await scene.visitor('admin', { owner: 'cyd' }),
  ];
  const path = `/runs/${run}/doubts/resolve?decision=resend&which=all`;
  const formOf = async (person: typeof bea) => ({
    ...hiddenFields((await person.get(path)).text),
    reason: 'not there',
  });
  const [form, other] = [await formOf(bea), await formOf(cyd)];
  const answers = await Promise.all([bea.post(path, form), cyd.post(path, other)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
  const again = await bea.post(path, form);
  expect(again.status).toBe(422);
  expect(again.text).toContain('No request is in doubt any more');
  await bea.send(`/runs/${run}/resume`, { reason: 'send them' });
  await expect.poll(() => countsOf(run), { timeout: 15_000 }).toMatchObject({ accepted: 6, in_doubt: 0 });
  expect(await resolutionsOf(run)).toHaveLength(1);
  const sql = 'SELECT max(attempt) AS attempts FROM attempts WHERE run_id = $1';
  expect((await scene.opened.ledger.pool.query(sql, [run])).rows).toEqual([{ attempts: 2 }]);
});

test('a token that may only read sees doubts, and neither is offered a decision nor can make one', async () => {
  const run = await sendSix(...allInDoubt);
  const reader = await scene.visitor('read');
  const list = await reader.get(`/runs/${run}/doubts`);
  expect(list.text).toContain('6 requests in doubt');
  expect(list.text).not.toMatch(/name="decision"|type="checkbox"/);
  const csrf = /name="csrf" value="([^"]+)"/.exec(list.text)?.[1] ?? '';
  const path = `/runs/${run}/doubts/resolve?decision=abandon&which=all`;
  for (const scope of ['read', 'run'] as const) {
    const person = scope === 'read' ? reader : await scene.visitor(scope);
    expect((await person.get(path)).status).toBe(403);
  }
  expect((await reader.post(path, { csrf, confirmed: '6', reason: 'x' })).status).toBe(403);
  const other = await scene.visitor('admin', { accounts: ['other'] });
  for (const page of [
    '',
    '/live',
    '/doubts',
    '/recipients',
    '/recipients?state=left+out',
    '/download/recipients?format=csv',
    '/download/run?format=json',
  ])
    expect((await other.get(`/runs/${run}${page}`)).status, page).toBe(404);
  expect((await other.get(path)).status).toBe(404);
  expect(await countsOf(run)).toMatchObject({ in_doubt: 6 });
});

test('hostile texts of the service and of contact files are text, on pages that everybody can use', async () => {
  const failed = (words: string) =>
    refuseWith('400 Bad Request', JSON.stringify({ Result: 'Failed', ErrorMessage: [words] }));
  const run = await sendSix(...hostileTexts.slice(0, 5).map(failed), resetInsteadOfForwarding);
  await scene.opened.ledger.pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
     SELECT $1, request, 1, 'undelivered', result, now() FROM unnest($2::text[]) WITH ORDINALITY AS t (result, request)`,
    [run, hostileTexts],
  );
  const page = await scene.browse(`/runs/${run}`, { width: 360 });
  for (const path of [
    '',
    '/recipients',
    '/recipients?state=undelivered',
    '/recipients?state=not+accepted',
    '/recipients?state=left+out',
    '/doubts',
    '/doubts/resolve?decision=resend&which=all',
  ]) {
    await page.goto(`${scene.url}/runs/${run}${path}`);
    await expectAccessible(page);
    const foreign = page.locator('main script, main img, [onerror], [onmouseover]');
    expect(await foreign.count(), path).toBe(0);
  }
  await page.setViewportSize({ width: 1_280, height: 900 });
  for (const state of ['rejected', 'undelivered']) {
    await page.goto(`${scene.url}/runs/${run}`);
    await expectAccessible(page);
    await page.getByRole('link', { name: `${state}: <script>` }).click();
    await page.getByRole('cell', { name: 'six.csv' }).first().waitFor();
  }
});

test('each report of a run is downloaded in each format, also those that its page does not offer', async () => {
  const run = await sendSix(resetInsteadOfForwarding);
  const reader = await scene.visitor('read');
  expect((await reader.get(`/runs/${run}`)).text.match(/download\//g)).toHaveLength(downloads.length);
  for (const report of [...downloads.map((each) => each.report), 'recipients']) {
    for (const format of report === 'run' ? runFormats : httpFormats) {
      const { status, headers, text } = await reader.get(`/runs/${run}/download/${report}?format=${format}`);
      expect(status, `${report} as ${format}`).toBe(200);
      expect(headers.get('content-disposition')).toContain(`${report}-${run}.${format}`);
      expect(text.length, `${report} as ${format}`).toBeGreaterThan(0);
    }
  }
  expect((await reader.get(`/runs/${run}/download/run?format=csv`)).status).toBe(404);
});
