import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { eraseRun } from '../../../src/ledger/purge/erase-run.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { type DashboardScene, openDashboardScene, type Visitor } from '../../support/dashboard-scene.ts';
import { foldAll } from '../../support/fold-outcomes.ts';
import { planRunOfEveryState } from '../../support/run-of-every-state.ts';

let scene: DashboardScene;
let run: string;
beforeAll(async () => {
  scene = await openDashboardScene({ words: ['--no-worker'] });
  run = await planRunOfEveryState(scene.opened.ledger);
});
afterAll(() => scene[Symbol.asyncDispose]());

type FigureLink = { readonly path: string; readonly label: string; readonly figure: number };

/** The figures of a page that lead to people. */
function figuresOf(text: string): FigureLink[] {
  const links = text.matchAll(
    /<a href="(\/runs\/[^"]*\/recipients[^"]*)" aria-label="([^"]*)"[^>]*>([\d,]+)<\/a>/g,
  );
  return [...links].map(([, path = '', label = '', figure = '']) => ({
    path: path.replaceAll('&amp;', '&'),
    label,
    figure: Number(figure.replaceAll(',', '')),
  }));
}

/** Addresses or lines of the list of a page. */
function rowsOf(text: string): string[] {
  const table = /<caption>(?:Recipients|Contacts)<\/caption>([\s\S]*?)<\/table>/.exec(text)?.[1] ?? '';
  return [...table.matchAll(/<th scope="row"[^>]*>(.*?)<\/th>/g)].map(([, cell = '']) =>
    cell.replace(/<[^>]*>/g, ''),
  );
}

async function expectFigures(person: Visitor): Promise<FigureLink[]> {
  const figures = figuresOf((await person.get(`/runs/${run}`)).text);
  for (const { path, label, figure } of figures) {
    const { status, text } = await person.get(path);
    expect([label, path, status, rowsOf(text).length]).toEqual([label, path, 200, figure]);
  }
  return figures;
}

test('the list behind each figure of a run has as many rows as the figure says, also when outcomes are folded and booked', async () => {
  const reader = await scene.visitor('read', { accounts: ['sandbox'] });
  const labels = (await expectFigures(reader)).map(({ label }) => label);
  expect(new Set(labels)).toEqual(
    new Set([
      '2 delivered',
      '3 undelivered',
      '4 waiting',
      '4 not accepted',
      '2 unknown',
      '1 cancelled',
      '4 left out',
      '2 undelivered: Busy',
      '1 undelivered: no words',
      '2 rejected: No such number',
      '1 rejected: &lt;b&gt;Bad&lt;/b&gt;',
      '1 failed: refused connection',
      '1 unknown: no answer within 30000 ms',
      '3 invalid',
      '1 suppressed',
      '2 invalid: column mobile',
      '1 invalid: column code',
      '1 suppressed: column mobile',
      '2 pending',
      '2 accepted',
      '3 rejected',
      '1 failed',
    ]),
  );
  while (await bookPending(scene.opened.ledger.pool));
  await foldAll(scene.opened.ledger.pool);
  await expectFigures(reader);
});

test('a list of recipients is downloaded as it is asked for', async () => {
  const reader = await scene.visitor('read');
  for (const { path, label, figure } of figuresOf((await reader.get(`/runs/${run}`)).text)) {
    if (/left out|invalid|suppressed/.test(label)) continue;
    const { text } = await reader.get(`${path.replace('/recipients', '/download/recipients')}&format=csv`);
    expect([label, text.trimEnd().split('\n').length - 1]).toEqual([label, figure]);
  }
});

test('a short list is sorted by its columns, and any list goes on after any row', async () => {
  const reader = await scene.visitor('read');
  const path = `/runs/${run}/recipients?state=not+accepted`;
  const sorted = rowsOf((await reader.get(`${path}&order=reason`)).text);
  const byRequest = rowsOf((await reader.get(path)).text);
  expect(byRequest).toHaveLength(4);
  expect(sorted).toEqual([byRequest[2], byRequest[0], byRequest[1], byRequest[3]]);
  expect(rowsOf((await reader.get(`${path}&after=11-1`)).text)).toEqual(byRequest.slice(2));
  expect(rowsOf((await reader.get(`${path}&order=nonsense&after=nonsense`)).text)).toEqual(byRequest);
});

test('an unknown state asks for all recipients, and another cause for none', async () => {
  const reader = await scene.visitor('read');
  expect(rowsOf((await reader.get(`/runs/${run}/recipients?state=nonsense`)).text)).toHaveLength(16);
  const none = await reader.get(`/runs/${run}/recipients?state=undelivered&cause=other`);
  expect([none.status, rowsOf(none.text)]).toEqual([200, []]);
  expect(none.text).toContain('There are none.');
});

test('undelivered recipients with one cause are suppressed for the account of the run, as many as the page said', async () => {
  const { pool } = scene.opened.ledger;
  const person = await scene.visitor('run', { owner: 'bea', accounts: ['sandbox'] });
  const [busy] = figuresOf((await person.get(`/runs/${run}`)).text).filter(({ label }) =>
    label.endsWith(': Busy'),
  );
  const group = new URL(busy?.path ?? '', 'http://volley').searchParams.get('cause') ?? '';
  expect((await person.get(busy?.path ?? '')).text).toContain(`recipients/suppress?cause=${group}`);
  const path = `/runs/${run}/recipients/suppress?cause=${group}`;
  expect((await person.get(path)).text).toContain('<strong>2 recipients</strong>');
  const others = await person.send(path, { confirmed: '3', reason: 'they are gone' });
  expect([others.status, others.text.includes('It concerns 2 recipients now, not 3.')]).toEqual([422, true]);
  const suppressed = async () =>
    (await pool.query('SELECT address, account, reason, source FROM suppressions ORDER BY address')).rows;
  expect(await suppressed()).toEqual([]);
  expect((await person.send(path, { reason: 'they are gone' })).status).toBe(303);
  const of = { account: 'sandbox', reason: 'they are gone', source: 'operator' };
  expect(await suppressed()).toEqual([
    { address: '+61400000006', ...of },
    { address: '+61400000008', ...of },
  ]);
  const [entry] = await listAudit(pool, { run, action: 'suppressions added' }, 1);
  expect(entry).toMatchObject({ who: 'bea', how: 'dashboard', details: { asked: 2, added: 2 } });
  expect(JSON.stringify(entry?.details)).not.toContain('+614');
  for (const unknown of ['', '?cause=other'])
    expect((await person.get(`/runs/${run}/recipients/suppress${unknown}`)).status).toBe(404);
  expect((await (await scene.visitor('read')).get(path)).status).toBe(403);
});

test('a token for other accounts sees no list, and a person who may only read is offered no action', async () => {
  const other = await scene.visitor('admin', { accounts: ['other'] });
  for (const path of ['recipients?state=delivered', 'recipients/suppress', 'download/recipients?format=csv'])
    expect([path, (await other.get(`/runs/${run}/${path}`)).status]).toEqual([path, 404]);
  const { text } = await (await scene.visitor('read')).get(`/runs/${run}/recipients?state=undelivered`);
  expect(text).not.toContain('class="button"');
});

test('the page of a run and its lists are used with the keyboard, without JavaScript, at any width, and closed parts open', async () => {
  const page = await scene.browse(`/runs/${run}`, { javaScript: false });
  for (const width of [320, 360, 768, 1_280, 1_920]) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of ['', '/recipients', '/recipients?state=undelivered', '/recipients?state=left+out']) {
      await page.goto(`${scene.url}/runs/${run}${path}`);
      const wider = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect([width, path, wider]).toEqual([width, path, 0]);
    }
  }
  await page.goto(`${scene.url}/runs/${run}`);
  await page.getByRole('link', { name: '3 undelivered', exact: true }).press('Enter');
  await page.getByRole('link', { name: '2 undelivered: Busy' }).press('Enter');
  await page.getByText('2 recipients').waitFor();
  await page.getByRole('link', { name: 'All undelivered' }).press('Enter');
  await page.goto(`${scene.url}/runs/${run}`);
  const planned = page.getByRole('row', { name: 'planned' });
  expect(await planned.isVisible()).toBe(false);
  await page.locator('#counts > summary').press('Enter');
  expect(await planned.isVisible()).toBe(true);
});

test('a part that a person opened stays open when the page changes by itself', async () => {
  const page = await scene.browse(`/runs/${run}`);
  await expectAccessible(page);
  await page.locator('#events > summary').click();
  await expectAccessible(page);
  await scene.opened.ledger.pool.query(
    `UPDATE requests SET state = 'rejected', reason = '"Bad"', attempts = 1 WHERE run_id = $1 AND request = 2`,
    [run],
  );
  await page.getByRole('link', { name: '5 not accepted' }).waitFor();
  expect(await page.locator('#events').getAttribute('open')).toBe('');
  expect(await page.locator('#counts').getAttribute('open')).toBe(null);
});

test('a purged run lists its recipients without addresses, and one without records says so', async () => {
  const { pool } = scene.opened.ledger;
  const reader = await scene.visitor('run');
  await pool.query(
    `UPDATE runs SET state = 'completed', finished_at = now(), purged_at = now() WHERE run_id = $1`,
    [run],
  );
  await eraseRun(pool, run);
  const erased = await reader.get(`/runs/${run}/recipients?state=undelivered`);
  expect(rowsOf(erased.text)).toEqual(['erased', 'erased', 'erased']);
  expect(erased.text).not.toContain('class="button"');
  await pool.query('UPDATE runs SET records_deleted_at = now() WHERE run_id = $1', [run]);
  await pool.query('DELETE FROM contents WHERE run_id = $1', [run]);
  const deleted = (await reader.get(`/runs/${run}/recipients?state=undelivered`)).text;
  expect(deleted).toContain('The records of single recipients were deleted');
  expect(deleted).toContain('aria-label="3 undelivered"');
});
