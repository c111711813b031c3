import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectAccessible } from '../../support/accessibility.ts';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';
import { deliveredAddress, deliveredRun, invoiceHeader } from '../../support/invoices.ts';

const now = new Date('2026-11-15T12:00:00Z');
const requests = 115;
const each = 200;

/** An invoice of which 22,845 recipients are missing, two have another price, and one is there twice. */
function writeInvoice(messageIds: readonly string[]): Buffer {
  const lineOf = (position: number, price: string): string =>
    `${messageIds[0]},${deliveredAddress(each + position)},${price},1`;
  const lines = Array.from({ length: 155 }, (_, index) => lineOf(index + 1, index < 2 ? '0.08' : '0.05'));
  return Buffer.from([invoiceHeader, ...lines, lineOf(3, '0.05')].map((line) => `${line}\n`).join(''));
}

let scene: DashboardScene;
let page: Page;
let buffer: Buffer;
beforeAll(async () => {
  scene = await openDashboardScene({
    now: () => now,
    words: ['--no-worker', '--no-receiver', '--no-schedules'],
  });
  const createdAt = new Date('2026-10-20T00:00:00Z');
  buffer = writeInvoice(await deliveredRun(scene.opened.ledger, { requests, each, createdAt }));
  page = await scene.browse('/billing/reconcile', { scope: 'admin', javaScript: false, width: 1_280 });
  await page.getByLabel('The invoice').setInputFiles({ name: 'october.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Compare' }).click();
});
afterAll(() => scene[Symbol.asyncDispose]());

const rows = () => page.getByRole('table', { name: 'Differences' }).locator('tbody tr');
const caption = () => page.getByRole('table', { name: 'Differences' }).locator('caption').textContent();
const findings = () => page.getByRole('table', { name: 'Findings' });
const follow = async (name: string): Promise<void> => {
  await page.getByRole('link', { name, exact: true }).first().click();
};

test('of 22,848 differences the three that cost money stand first, below their sums', async () => {
  expect(await page.getByRole('status').textContent()).toContain('22,848 differences.');
  expect(await findings().locator('tbody th').allTextContents()).toEqual([
    'other price',
    'twice in the invoice',
    'not in the invoice',
    'Agrees',
  ]);
  const money = await findings().locator('tbody tr').nth(0).locator('td').allTextContents();
  expect(money.slice(0, 5)).toEqual(['2', '0.06', '0.00', '0', '0.06']);
  const first = await rows().allTextContents();
  expect(first).toHaveLength(100);
  expect(first.map((text) => /charged too much/.test(text)).lastIndexOf(true)).toBe(2);
});

test('each sum leads to its lines, and every line is on a page', async () => {
  await findings().getByRole('link', { name: '0.11' }).click();
  expect(await caption()).toBe('Differences, charged too much, 1 to 3 of 3');
  expect(await rows().count()).toBe(3);
  await findings().getByRole('link', { name: 'twice in the invoice' }).click();
  expect(await rows().allTextContents()).toEqual([expect.stringContaining('already on line 4')]);
  const csv = await page.locator('.downloads a[href*="format=csv"]').getAttribute('href');
  const { text } = await (await scene.visitor('admin')).get(csv ?? '');
  expect(text.trim().split('\n')).toHaveLength(2);
  await follow('Show all differences');
  await follow('Next lines');
  expect(await caption()).toBe('Differences, 101 to 200 of 22,848');
  await page.goto(page.url().replace('page=2', 'page=229'));
  expect(await caption()).toBe('Differences, 22,801 to 22,848 of 22,848');
  await page.getByLabel('MessageID, recipient, run or payer').fill(deliveredAddress(each + 3));
  await page.getByRole('button', { name: 'Find lines' }).press('Enter');
  expect(await caption()).toBe(`Differences, ${deliveredAddress(each + 3)}, 1 to 1 of 1`);
  await follow('Show all differences');
});

test('the columns fit into 1,280 pixels, others are chosen, and the choice is kept', async () => {
  for (const table of await page.locator('section.lines').all())
    expect(await table.evaluate((frame) => frame.scrollWidth - frame.clientWidth)).toBe(0);
  const titles = () => page.getByRole('table', { name: 'Differences' }).locator('thead th').allTextContents();
  expect(await titles()).toHaveLength(8);
  const choose = page.locator('details', { hasText: 'Columns: 8 of' });
  await choose.locator('summary').click();
  await choose.getByLabel('ChargeCode').check();
  await choose.getByLabel('What is known').uncheck();
  await choose.getByRole('button').press('Enter');
  expect(page.url()).toContain('columns=chargeCode');
  const chosen = [
    'Finding',
    'MessageID',
    'Recipient',
    'ChargeCode',
    'Invoice price',
    'Price here',
    'Difference',
    'What it means',
  ];
  expect(await titles()).toEqual(chosen);
  await page.goto(page.url().replaceAll(/&columns=\w+/g, ''));
  expect(await titles()).toEqual(chosen);
});

test('its result is kept once with the month, with a digest of the file, and by a person who sees all accounts', async () => {
  await follow('Keep the result with 2026-10');
  const question = page.url();
  await page.getByRole('button', { name: 'Keep the result' }).press('Enter');
  await page.waitForLoadState();
  expect(await page.locator('.notice').textContent()).toBe('The result of october.csv is kept.');
  const kept = page.getByRole('table', { name: 'Invoices that were compared' }).locator('tbody tr');
  expect(await kept.allTextContents()).toEqual([expect.stringContaining('charged too much: 0.11')]);
  const { rows: entries } = await scene.opened.ledger.pool.query(
    `SELECT actor, subject, details ->> 'sha256' AS digest FROM audit WHERE action = 'invoice kept'`,
  );
  expect(entries).toMatchObject([{ subject: '2026-10', digest: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
  await page.goto(question);
  await page.getByRole('button', { name: 'Keep the result' }).press('Enter');
  await page.waitForLoadState();
  expect(await page.locator('.notice').textContent()).toBe('The result of october.csv was kept before.');
  expect(await kept.count()).toBe(1);
  const reader = await scene.browse('/billing/months', { scope: 'run', accounts: ['sandbox'] });
  expect(await reader.locator('main').textContent()).not.toContain('october.csv');
});

test('the pages of an invoice are accessible, light and dark, and whole at 320 pixels', async () => {
  const address = page.url();
  const withScript = await scene.browse('/billing/reconcile', { scope: 'admin', width: 320, height: 640 });
  await withScript.getByLabel('The invoice').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
  await withScript.getByRole('button', { name: 'Compare' }).click();
  await withScript.waitForLoadState();
  await expectAccessible(withScript);
  await withScript.goto(address);
  await expectAccessible(withScript);
});
