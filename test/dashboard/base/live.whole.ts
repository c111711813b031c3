import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';

let scene: DashboardScene;
/** Milliseconds that the clock of Volley is ahead. */
let ahead = 0;
beforeAll(async () => {
  scene = await openDashboardScene({ now: () => new Date(Date.now() + ahead) });
});
afterAll(() => scene[Symbol.asyncDispose]());

test('a run that is started elsewhere appears on an open page, without a reload', async () => {
  const page = await scene.browse('/');
  await page.getByText('There is no run yet').waitFor();
  const { code, stderr } = await scene.command(['run', 'campaigns/test.yaml']);
  expect(code, stderr).toBe(0);
  await page.getByRole('cell', { name: 'completed' }).waitFor();
});

test('a hidden tab ends its stream, and catches up when it is shown again', async () => {
  const page = await scene.browse('/');
  await page.getByRole('table').waitFor();
  const setHidden = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
document.dispatchEvent(new Event('visibilitychange'));`);
  const rows = page.getByRole('rowheader');
  const before = await rows.count();
  await setHidden(true);
  await scene.command(['run', 'campaigns/test.yaml']);
  await page.waitForTimeout(1_500);
  expect(await rows.count()).toBe(before);
  await setHidden(false);
  await expect.poll(() => rows.count()).toBe(before + 1);
});

test('a tab that is opened in the background takes no stream until it is shown', async () => {
  const page = await scene.browse('/zone');
  await page.addInitScript(`Object.defineProperty(document, 'hidden', { value: true, configurable: true })`);
  await page.goto(`${scene.url}/`);
  const rows = page.getByRole('rowheader');
  const before = await rows.count();
  await page.waitForTimeout(1_000);
  await scene.command(['run', 'campaigns/test.yaml']);
  await page.waitForTimeout(1_500);
  expect(await rows.count()).toBe(before);
  await page.evaluate(`Object.defineProperty(document, 'hidden', { value: false, configurable: true });
document.dispatchEvent(new Event('visibilitychange'));`);
  await expect.poll(() => rows.count()).toBe(before + 1);
});

test('a page that has heard nothing of Volley for 45 seconds says so, and asks for a new stream', async () => {
  const page = await scene.browse('/zone');
  let streams = 0;
  await page.route('**/runs/live', async (route) => {
    streams++;
    if (streams === 2) await page.waitForTimeout(500);
    return route.continue();
  });
  await page.goto(`${scene.url}/`);
  // Volley has been heard.
  await page.waitForTimeout(1_500);
  expect(streams).toBe(1);
  const lost = page.getByText('Volley does not answer.');
  await page.evaluate('{ const now = Date.now; Date.now = () => now() + 60_000; }');
  await lost.waitFor();
  await lost.waitFor({ state: 'hidden' });
  expect(streams).toBe(2);
});

test('a stream of a page that does not change is heard every 15 seconds', async () => {
  const { cookies } = await scene.visitor('read');
  const headers = { cookie: cookies(), accept: 'text/event-stream' };
  const stop = new AbortController();
  const { body } = await fetch(`${scene.url}/runs/live`, { headers, signal: stop.signal });
  let text = '';
  const reading = (async () => {
    for await (const piece of body ?? []) text += Buffer.from(piece).toString();
  })().catch(() => undefined);
  const heard = () => text.match(/event: alive\ndata: alive\n\n/g)?.length ?? 0;
  await expect.poll(() => text).toContain('data: ');
  for (const times of [1, 2]) {
    // The clock itself goes on, too: on a busy machine some seconds.
    ahead += 8_000;
    await sleep(1_500);
    expect(heard()).toBe(times - 1);
    ahead += 7_000;
    await expect.poll(heard).toBe(times);
  }
  stop.abort();
  await reading;
});

test('a page whose first stream is refused or lost keeps its figures, says so, and asks again', async () => {
  const page = await scene.browse('/health');
  await page.getByRole('heading', { name: 'Health', exact: true }).waitFor();
  const refusals = ['refused', 'lost'];
  await page.route('**/runs/live', async (route) => {
    const next = refusals.shift();
    if (next === 'refused')
      return route.fulfill({ status: 503, contentType: 'text/html', body: '<p>another page</p>' });
    return next === 'lost' ? route.abort() : route.continue();
  });
  await page.goto(`${scene.url}/`);
  const lost = page.getByText('Volley does not answer.');
  await lost.waitFor();
  await page.getByRole('table').waitFor();
  expect(await page.getByText('another page').count()).toBe(0);
  await lost.waitFor({ state: 'hidden', timeout: 15_000 });
  const rows = page.getByRole('rowheader');
  const before = await rows.count();
  await scene.command(['run', 'campaigns/test.yaml']);
  await expect.poll(() => rows.count()).toBe(before + 1);
});

test('an open page says that the session has ended, and asks no more', async () => {
  const page = await scene.browse('/');
  await page.getByRole('table').waitFor();
  await scene.opened.ledger.pool.query('DELETE FROM sessions');
  await page.getByText('Your session has ended').waitFor({ timeout: 15_000 });
});

test('a person with many open pages leaves connections for others: the next page says that it does not change', async () => {
  const [person, other] = [await scene.visitor('read'), await scene.visitor('read')];
  const stop = new AbortController();
  const open = async (cookie: string): Promise<ReadableStreamDefaultReader<Uint8Array> | undefined> => {
    const headers = { cookie, accept: 'text/event-stream' };
    return (await fetch(`${scene.url}/runs/live`, { headers, signal: stop.signal })).body?.getReader();
  };
  const firstOf = async (cookie: string): Promise<string> =>
    new TextDecoder().decode((await (await open(cookie))?.read())?.value);
  const first = await Promise.all(Array.from({ length: 20 }, () => firstOf(person.cookies())));
  expect(first.filter((text) => text.includes('Too many'))).toEqual([]);
  expect(await firstOf(person.cookies())).toMatch(/Too many pages are open[\s\S]*event: ended/);
  expect(await firstOf(other.cookies())).not.toContain('Too many');
  stop.abort();
});
