import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listClosings } from '../../../src/ledger/billing/close.ts';
import { monthAfter } from '../../../src/platform/months.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { performStep } from '../../support/billing-world.ts';
import { openBrowser } from '../../support/browser.ts';
import {
  type BrowseOptions,
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  type Visitor,
} from '../../support/dashboard-scene.ts';
import { type Invoiced, invoicedRun, invoiceHeader, invoiceRow } from '../../support/invoices.ts';
import { hostileNames } from '../../support/pages.ts';

const now = new Date('2026-11-15T12:00:00Z');
const october = new Date('2026-10-21T10:00:00Z');
/** Postgres keeps no NUL. */
const names = hostileNames.map((name) => name.replace('\u0000', '\u202e'));

let scene: DashboardScene;
let visitor: Visitor;
let page: Page;
let own: readonly Invoiced[];
let others: readonly Invoiced[];
beforeAll(async () => {
  scene = await openDashboardScene({
    now: () => now,
    words: ['--no-worker', '--no-receiver', '--no-schedules'],
  });
  page = await (await openBrowser()).newPage({ javaScriptEnabled: false });
  own = await invoicedRun(scene.opened, ['accepted', 'accepted', 'in_doubt'], { at: october });
  others = await invoicedRun(scene.opened, ['accepted'], { at: october, account: 'other' });
  const world = { ledger: scene.opened.ledger, runs: [], now: new Date('2026-11-03T09:00:00Z') };
  const payers = names.map((SubAccount) => ({ SubAccount }));
  await performStep(world, {
    kind: 'plan',
    channel: 'sms',
    payers,
    contacts: names.length,
    chunkSize: 1,
    rates: null,
  });
  await performStep(world, {
    kind: 'send',
    run: 0,
    requests: 20,
    ends: names.map(() => 'accepted' as const),
  });
});
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(() => signInAs());

/** Signs in again; otherwise as ann, with the scope admin and all accounts. */
async function signInAs({ scope = 'admin', ...asked }: BrowseOptions = {}): Promise<void> {
  visitor = await scene.visitor(scope, asked);
  const cookies = visitor.cookies().split('; ');
  await page.context().addCookies(
    cookies.map((cookie) => ({
      name: cookie.replace(/=.*/, ''),
      value: cookie.replace(/^.*?=/, ''),
      url: scene.url,
    })),
  );
}

/** Asks with the cookies of the session, without following redirects. */
const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${scene.url}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { cookie: visitor.cookies(), origin: scene.url },
  });

/** For a form of the session. */
const csrfToken = async (): Promise<string> => hiddenFields((await visitor.get('/zone')).text)['csrf'] ?? '';

const open = (path: string) => page.goto(`${scene.url}${path}`);
const heading = () => page.getByRole('heading', { level: 1 }).textContent();

/** Reaches a link by Tab alone, and follows it. */
async function follow(name: string): Promise<void> {
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement?.textContent?.trim()')) === name) {
      await page.keyboard.press('Enter');
      await page.waitForLoadState();
      return;
    }
  }
  throw new Error(`no link ${name} has the focus`);
}

describe('billing', () => {
  test('the keyboard alone leads from a month to SubAccount, ChargeCode, campaign, run and requests', async () => {
    await open('/billing');
    await follow('October 2026');
    expect(await heading()).toBe('Billing: October 2026');
    for (const [name, column] of [
      ['North', 'ChargeCode'],
      ['C1', 'Campaign'],
      ['test', 'Run'],
    ] as const) {
      await follow(name);
      expect(await page.locator('section.lines thead th').first().textContent()).toBe(column);
    }
    const { run = '' } = own[0] ?? {};
    const row = page.getByRole('row', { name: run });
    expect(await row.locator('td').first().textContent()).toBe('3');
    await row.locator('td').first().getByRole('link').press('Enter');
    expect(await heading()).toBe('Requests: October 2026');
    expect(await page.locator('.lines tbody td:nth-child(3)').allTextContents()).toEqual(
      own.filter((_, index) => index % 2 === 0).map(({ messageId }) => messageId),
    );
  });

  test('a ChargeCode leads to its requests of all runs in one click', async () => {
    await open('/billing?from=2026-10&to=2026-11&by=ChargeCode');
    await page.getByRole('row', { name: 'C1' }).getByRole('link', { name: '8', exact: true }).click();
    expect(await page.locator('ul.limits').textContent()).toContain('ChargeCode C1');
    const runs = await page.locator('.lines tbody th').allTextContents();
    expect(new Set(runs)).toEqual(new Set([own[0]?.run, others[0]?.run]));
  });

  test('a table is sorted by the title of a column, and the chart like it', async () => {
    await open('/billing?from=2026-11&to=2026-12');
    const first = () => page.locator('section.lines tbody th').allTextContents();
    await page.getByRole('columnheader', { name: 'SubAccount' }).getByRole('link').press('Enter');
    const ascending = await first();
    expect(ascending.toSorted()).toEqual(ascending);
    expect(await page.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('ascending');
    await page.getByRole('columnheader', { name: 'SubAccount' }).getByRole('link').press('Enter');
    expect(await first()).toEqual(ascending.toReversed());
    await open('/billing?from=2026-10&to=2026-11&by=account&sort=account');
    const bars = page.getByRole('figure', { name: 'Price by account' }).locator('details th[scope=row]');
    expect(await bars.allTextContents()).toEqual(['other', 'sandbox']);
    await open('/billing?from=2026-10&to=2026-11&by=account&sort=-account');
    expect(await bars.allTextContents()).toEqual(['sandbox', 'other']);
    await open('/billing?from=2026-10&to=2026-11&sort=campaign');
    expect(await first()).toEqual(['North']);
  });

  test('a month has totals of all accounts, charts with their figures, and says that it is open', async () => {
    await open('/billing?from=2026-10&to=2026-11');
    expect(await page.locator('tfoot').textContent()).toContain('0.30');
    expect(await page.locator('main').textContent()).toContain('Open: figures change');
    const charts = await page.locator('figcaption').allTextContents();
    expect(charts).toEqual(['From recipients to deliveries', 'Recipients by day', 'Price by SubAccount']);
    expect(await page.locator('figure summary').count()).toBe(3);
  });

  test('lines of one name in several currencies have the currency beside the name', async () => {
    const month = new Date('2026-09-10T09:00:00Z');
    const world = { ledger: scene.opened.ledger, runs: [], now: month };
    for (const [run, currency] of ['NZD', 'AUD'].entries()) {
      const tariffs = [[{ price: '0.08', tax: null, from: null, until: null }]];
      const rates = { currency, tariffs };
      const payers = [{ SubAccount: 'North' }, { SubAccount: 'South' }];
      await performStep(world, { kind: 'plan', channel: 'sms', payers, contacts: 2, chunkSize: 1, rates });
      await performStep(world, { kind: 'send', run, requests: 2, ends: ['accepted', 'accepted'] });
    }
    await open('/billing?from=2026-09&to=2026-10');
    const head = await page.locator('section.lines thead th').allTextContents();
    expect(head.slice(0, 2)).toEqual(['SubAccount', 'Currency']);
  });

  test('hostile names are text, and lead to their own figures', async () => {
    await open('/billing?from=2026-11&to=2026-12');
    const shown = await page.locator('section.lines tbody th').allTextContents();
    expect(new Set(shown)).toEqual(
      new Set(names.map((name) => name.replace('\u202e', '\\u202e').replace('\u001b', '\\x1b'))),
    );
    expect(await page.locator('main :is(script, img, b)').count()).toBe(0);
    await page
      .getByRole('link', { name: names[0] ?? '' })
      .first()
      .click();
    expect(await page.locator('ul.limits').textContent()).toContain(names[0]);
    expect(await page.locator('section.lines tfoot td').first().textContent()).toBe('1');
  });

  test('a session with accounts sees these only, and other names do not exist for it', async () => {
    await signInAs({ scope: 'read', accounts: ['other'] });
    await open('/billing?from=2026-10&to=2026-11&by=run');
    expect(await page.locator('section.lines tbody th').allTextContents()).toEqual([others[0]?.run]);
    await open(`/billing?from=2026-10&to=2026-11&by=run&run=${own[0]?.run}`);
    expect(await page.locator('main').textContent()).toContain('There is no such run');
    await open('/billing?from=&to=&account=sandbox');
    expect(await page.locator('main').textContent()).toContain('There is no run of this account.');
    await open(`/billing/requests?from=&to=&run=${own[0]?.run}`);
    expect(await page.locator('main').textContent()).toContain('There is no such run');
    await open('/billing/requests?from=&to=');
    expect(new Set(await page.locator('.lines tbody th').allTextContents())).toEqual(
      new Set([others[0]?.run]),
    );
  });

  test('a page with figures, charts and hostile names is accessible, light and dark, and whole at 320 pixels', async () => {
    // Axe needs JavaScript.
    const withScript = await (await openBrowser()).newContext();
    await withScript.addCookies(await page.context().cookies());
    const { run = '' } = own[0] ?? {};
    for (const path of [
      '/billing?from=2026-11&to=2026-12&by=SubAccount&by=run',
      `/billing/requests?from=&to=&run=${run}`,
      '/billing?from=2026-13&to=',
    ]) {
      const other = await withScript.newPage();
      await other.goto(`${scene.url}${path}`);
      await other.setViewportSize({ width: 320, height: 640 });
      await expectAccessible(other);
      await other.close();
    }
  });

  test('a wrong field has its sentence beside it', async () => {
    await open('/billing?from=2026-13&to=&timeZone=Nowhere&by=');
    expect(await page.getByLabel('From').getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#from-error').textContent()).toContain('Expected a date');
    expect(await page.locator('#timeZone-error').textContent()).toContain('Expected a time zone');
  });

  test.each([
    ['from=2026-01&to=2026-02', 'Nothing was sent in January 2026.'],
    ['from=2026-01&to=2026-03', 'Nothing was sent from 2026-01 until before 2026-03.'],
  ])('what a period without requests is called reads as a sentence: %s', async (asked, words) => {
    await open(`/billing?${asked}`);
    expect(await page.locator('.empty').textContent()).toContain(words);
  });

  test('a page beyond the last shows the last', async () => {
    await open('/billing?from=&to=&by=SubAccount&page=999');
    const table = page.getByRole('region', { name: /^Billing: all time/ });
    expect(await table.getByRole('row').count()).toBeGreaterThan(names.length);
  });

  test('a period without requests says how to see more', async () => {
    await open('/billing?from=2026-01&to=2026-02');
    await follow('Show all time');
    expect(await heading()).toBe('Billing: all time');
    await signInAs({ accounts: ['none'] });
    await open('/billing?from=&to=');
    expect(await page.locator('.empty').textContent()).toContain('Nothing was sent yet. Start a run');
  });

  test.each([
    ['csv', 'text/csv', 'North'],
    ['json', 'application/json', '"rows":'],
    ['ndjson', 'application/x-ndjson', '"SubAccount":"North"'],
    ['xlsx', 'spreadsheetml', 'PK'],
    ['html', 'text/html', '<!doctype html>'],
  ])('every line is downloaded as %s', async (format, type, text) => {
    await open('/billing?from=2026-10&to=2026-11');
    const link = await page.locator(`.downloads a[href*="format=${format}"]`).getAttribute('href');
    const response = await ask(link ?? '');
    expect(response.headers.get('content-type')).toContain(type);
    expect(await response.text()).toContain(text);
  });
});

describe('an invoice', () => {
  const upload = async (lines: readonly string[], name = 'october.csv'): Promise<void> => {
    await open('/billing/reconcile');
    const buffer = Buffer.from([invoiceHeader, ...lines].map((line) => `${line}\n`).join(''));
    await page.getByLabel('The invoice').setInputFiles({ name, mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Compare' }).press('Enter');
    await page.waitForLoadState();
  };

  test('that agrees says so', async () => {
    await upload([...own.slice(0, 4), ...others].map((one) => invoiceRow(one)));
    expect(await heading()).toBe('Invoice october.csv');
    expect(await page.getByRole('status').textContent()).toContain('The invoice agrees with the ledger.');
  });

  test('that differs shows each difference with what to do, and its downloads have them', async () => {
    await upload(
      [...own, ...others].map((one, index) => invoiceRow(one, index === 0 ? '0.99' : '0.05')),
      '<b>&.csv',
    );
    expect(await heading()).toBe('Invoice <b>&.csv');
    expect(await page.getByRole('status').textContent()).toContain('3 differences.');
    expect(await page.getByRole('table', { name: 'Findings' }).textContent()).toContain(
      'Ask which price is right.',
    );
    const differences = page.getByRole('table', { name: 'Differences' });
    expect(await differences.locator('tbody tr').count()).toBe(3);
    const doubt = differences.getByRole('link', { name: 'in doubt here' }).first();
    expect(await doubt.getAttribute('href')).toBe(`/runs/${own[0]?.run}/doubts`);
    expect(await differences.textContent()).not.toContain('volley resolve');
    const link = await page.locator('.downloads a[href*="format=csv"]').getAttribute('href');
    const csv = await (await ask(link ?? '')).text();
    expect(csv.trim().split('\n')).toHaveLength(4);
  });

  test('with lines that cannot be read says which, and is compared when they are skipped', async () => {
    await upload(
      [...own.slice(0, 4), ...others].map((one) => invoiceRow(one)).concat(['Total,,"1,234.50",']),
    );
    expect(await page.getByRole('alert').textContent()).toContain('october.csv:8');
    expect(await page.getByRole('alert').textContent()).toContain('Fix it, or choose “Skip lines');
    await page.locator('summary', { hasText: 'How the file is written' }).click();
    await page.getByLabel('Skip lines that cannot be read').check();
    await page.getByRole('button', { name: 'Compare' }).click();
    expect(await page.getByRole('status').textContent()).toContain('The invoice agrees');
    expect(await page.locator('main').textContent()).toContain('Not compared: 1 line.');
  });

  test('that is no table, or unpacks to far more than its size, says so', async () => {
    const send = async (name: string, bytes: Buffer): Promise<string> => {
      await open('/billing/reconcile');
      await page
        .getByLabel('The invoice')
        .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: bytes });
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.waitForLoadState();
      return (await page.getByRole('alert').textContent()) ?? '';
    };
    expect(
      await send('photo.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0])),
    ).toContain('Nothing was compared.');
    expect(await send('bomb.csv.gz', gzipSync(Buffer.alloc(40_000_000, 'A')))).toContain(
      'Nothing was compared.',
    );
  });

  test('is found by its owner only', async () => {
    await upload([]);
    const address = page.url();
    await signInAs({ owner: 'bob' });
    expect((await page.goto(address))?.status()).toBe(404);
  });

  test('shows a session nothing about requests of other accounts', async () => {
    await signInAs({ scope: 'read', accounts: ['other'] });
    await upload(own.map((one) => invoiceRow(one)));
    const table = await page.getByRole('table', { name: 'Differences' }).textContent();
    expect(table).toContain('no request has this MessageID');
    expect(table).not.toContain(own[0]?.run);
  });

  test('must be of a form of ours, must be chosen, and must not be too large', async () => {
    const send = async (fields: Readonly<Record<string, string>>, file?: Blob): Promise<[number, string]> => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      if (file) form.set('invoice', file, 'big.csv');
      const answer = await ask('/billing/reconcile', { method: 'POST', body: form });
      return [answer.status, await answer.text()];
    };
    const small = new Blob([`${invoiceHeader}\n`]);
    expect((await send({}, small))[0]).toBe(403);
    expect((await send({ csrf: 'another' }, small))[0]).toBe(403);
    expect(await send({ csrf: await csrfToken() })).toEqual([422, expect.stringContaining('Choose a file.')]);
    const large = new Blob([new Uint8Array(32 * 1024 * 1024 + 1)]);
    expect(await send({ csrf: await csrfToken() }, large)).toEqual([
      422,
      expect.stringContaining('larger than 32 MB'),
    ]);
    expect((await send({ csrf: await csrfToken() }, small))[0]).toBe(303);
  });
});

describe('closing a month', () => {
  test('is not offered to a session without the scope or for some accounts, and is refused', async () => {
    for (const session of [{ scope: 'run' }, { accounts: ['sandbox'] }] as const) {
      await signInAs(session);
      await open('/billing/months');
      expect(await page.locator('main').textContent()).toContain('A token with the scope admin');
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
      const body = new URLSearchParams({ csrf: await csrfToken(), reason: 'x' });
      const close = '/billing/close?month=2026-10&timeZone=UTC';
      const answer = await ask(close, { method: 'POST', body });
      expect([403, 422]).toContain(answer.status);
    }
    await open('/billing/months');
    expect(await page.locator('main').textContent()).toContain('No month is closed yet.');
  });

  test('asks first for the time zone, in which all later months are closed too', async () => {
    await open('/billing/months');
    const words = await page.locator('main').textContent();
    expect(words).toContain('The last month in which anything was sent is October 2026.');
    expect(words).toContain('It stays: all later months are closed in it too.');
    await page.getByLabel('Time zone').fill('Pacific/Auckland');
    await page.getByRole('button', { name: 'Close October 2026' }).press('Enter');
    await page.waitForLoadState();
    expect(await page.locator('form.question').textContent()).toContain(
      'All later months are closed in Pacific/Auckland too.',
    );
  });

  test('is refused for a month that no calendar of Postgres has', async () => {
    for (const month of ['0000-01', '9999-12', '2026-13'])
      expect([month, (await ask(`/billing/close?month=${month}&timeZone=UTC`)).status]).toEqual([month, 422]);
  });

  test('is done once when two people do it at once', async () => {
    const close = '/billing/close?month=2026-09&timeZone=UTC';
    const body = { csrf: await csrfToken(), reason: 'together' };
    const answers = await Promise.all(
      [1, 2].map(() => ask(close, { method: 'POST', body: new URLSearchParams(body) })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    const { rows } = await scene.opened.ledger.pool.query(
      `SELECT outcome FROM audit WHERE action = 'billing closed' AND subject = '2026-09' ORDER BY 1`,
    );
    expect(rows.filter(({ outcome }) => outcome === 'done')).toHaveLength(1);
    expect(await listClosings(scene.opened.ledger.pool)).toHaveLength(1);
  });

  test('says what it fixes, is done with a reason, and then once only', async () => {
    await open('/billing/months');
    await follow('Close October 2026 (UTC)');
    expect(await page.locator('body').textContent()).toContain(
      'It concerns 8 recipients: 6 delivered, 0 undelivered, 0 failed, 2 unknown, 0 not yet reported.',
    );
    const address = page.url();
    await page.getByLabel('Reason').fill('all reports are here');
    await page.getByRole('button', { name: 'Close October 2026' }).press('Enter');
    await page.waitForLoadState();
    expect(await heading()).toBe('Billing: October 2026');
    expect(await page.locator('main').textContent()).toContain('by ann: these figures do not change.');
    const { rows } = await scene.opened.ledger.pool.query(
      `SELECT subject, details ->> 'reason' AS reason, outcome FROM audit WHERE action = 'billing closed' ORDER BY entry DESC LIMIT 1`,
    );
    expect(rows).toEqual([{ subject: '2026-10', reason: 'all reports are here', outcome: 'done' }]);
    await page.goto(address);
    await page.getByLabel('Reason').fill('again');
    await page.getByRole('main').getByRole('button').press('Enter');
    expect(await page.getByRole('alert').textContent()).toContain('a closed month does not change');
    await open('/billing/months');
    expect(await page.locator('main').textContent()).toContain('November 2026 (UTC), when it is over.');
  });

  test('does not change: what is decided later is a correction in an open month', async () => {
    const [, , doubt] = own;
    const { ledger } = scene.opened;
    const world = { ledger, runs: [doubt?.run ?? ''], now: new Date('2026-11-10T09:00:00Z') };
    const rowsOf = async (month: string) => {
      await open(`/billing?from=${month}&to=${monthAfter(month)}&timeZone=UTC&by=SubAccount`);
      return page.locator('section.lines tbody tr').allTextContents();
    };
    const october = await rowsOf('2026-10');
    await performStep(world, { kind: 'resolve', run: 0, resolution: 'accepted' });
    expect(await rowsOf('2026-10')).toEqual(october);
    expect(await rowsOf('2026-11')).toContain('North2026-1000-2020');
    const chart = page.getByRole('figure', { name: 'From recipients to deliveries, without corrections' });
    expect(await chart.textContent()).toContain('Accepted7 (100.0 %)');
  });
});
