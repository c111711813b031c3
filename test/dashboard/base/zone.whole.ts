import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene({ words: ['--no-worker', '--no-receiver', '--no-schedules'] });
});
afterAll(() => scene[Symbol.asyncDispose]());

const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

test('a page has the zone of its browser, UTC is a click away, and so is the way back', async () => {
  const page = await scene.browse('/', { zone: 'Pacific/Auckland' });
  await page.getByRole('link', { name: 'Pacific/Auckland' }).waitFor();
  await page.getByRole('button', { name: 'Show UTC' }).press('Enter');
  await page.getByRole('link', { name: 'UTC', exact: true }).waitFor();
  await page.goto(`${scene.url}/health`);
  await page.getByRole('link', { name: 'UTC', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show Pacific/Auckland' }).click();
  await page.getByRole('link', { name: 'Pacific/Auckland' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/health');
  await page.context().close();
});

test('a zone that the person chose is the one to go back to from UTC', async () => {
  const page = await scene.browse('/zone?to=/audit', { zone: 'Pacific/Auckland' });
  await page.getByLabel('Show times in').fill('Europe/London');
  await page.getByRole('button', { name: 'Show times in this zone' }).click();
  await page.getByRole('link', { name: 'Europe/London' }).waitFor();
  await page.getByRole('button', { name: 'Show UTC' }).click();
  await page.getByRole('button', { name: 'Show Europe/London' }).waitFor();
  await page.context().close();
});

test('a page that was opened before the browser said its zone is loaded again with it, once', async () => {
  const page = await scene.browse('/', { zone: 'Asia/Tokyo' });
  await page.getByRole('link', { name: 'Asia/Tokyo' }).waitFor();
  await page.context().clearCookies({ name: 'volley_own_zone' });
  let asked = 0;
  page.on('request', (request) => {
    if (request.isNavigationRequest()) asked++;
  });
  await page.goto(`${scene.url}/audit`);
  await page.getByRole('link', { name: 'Asia/Tokyo' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(asked).toBe(2);
  await page.context().close();
});

test('without JavaScript a page has the zone of the server, names it, and changes it with a form', async () => {
  const page = await scene.browse('/', { zone: 'Asia/Tokyo', javaScript: false });
  await page.getByRole('link', { name: own, exact: true }).waitFor();
  await page.goto(`${scene.url}/zone`);
  await page.getByLabel('Show times in').fill('Asia/Tokyo');
  await page.getByRole('button', { name: 'Show times in this zone' }).click();
  await page.getByRole('link', { name: 'Asia/Tokyo' }).waitFor();
  await page.context().close();
});

test('a cookie that names no zone changes nothing', async () => {
  const person = await scene.visitor('read');
  const cookie = `${person.cookies()}; volley_own_zone=%3Cb%3E; volley_zone=Mars/Base`;
  const { status, text } = await person.get('/health', { cookie });
  expect([status, text.includes(`>${own}</a>`)]).toEqual([200, true]);
});
