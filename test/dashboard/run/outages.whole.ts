import { once } from 'node:events';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { findProblems } from '../../support/accessibility.ts';
import {
  type DashboardScene,
  hiddenFields,
  openDashboardScene,
  signIn,
} from '../../support/dashboard-scene.ts';
import { freePort } from '../../support/free-port.ts';
import { type PostgresProxy, startPostgresProxy } from '../../support/postgres-proxy.ts';
import { startOverApi } from '../../support/start-over-api.ts';
import { type Started, startVolley } from '../../support/volley.ts';
import { contactsCsv } from '../../support/workspace.ts';

let scene: DashboardScene;
let proxy: PostgresProxy;
let port: number;
let serve: Started;
beforeAll(async () => {
  scene = await openDashboardScene({
    sandbox: { latency: 200 },
    words: ['--no-worker'],
    files: { 'campaigns/contacts.csv': contactsCsv(600) },
  });
  proxy = await startPostgresProxy(scene.opened.url);
  port = await freePort();
  serve = await startServe();
});
afterAll(async () => {
  serve.process.kill();
  await serve.ended;
  await proxy[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const url = () => scene.url.replace(/\d+$/, String(port));

/** In a process of its own, which reaches Postgres through the proxy. */
async function startServe(): Promise<Started> {
  const started = startVolley(['serve', '--port', '0', '--api-port', String(port)], {
    cwd: scene.workspace.folder,
    env: { ...scene.environment, DATABASE_URL: proxy.url },
  });
  await started.waitForText('Dashboard: ');
  return started;
}

async function openRun(run: string): Promise<Page> {
  const page = await scene.browse('/');
  await page.goto(`${url()}/sign-in?to=/runs/${run}`);
  await page.getByLabel('Your token').fill(await scene.tokenOf('admin'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: run }).waitFor();
  await page.evaluate(`document.body.dataset.kept = 'yes'`);
  return page;
}

const sentOn = async (page: Page): Promise<number> =>
  Number(await page.getByRole('progressbar', { name: 'Sent' }).getAttribute('value'));
const isSameLoad = async (page: Page) => (await page.evaluate('document.body.dataset.kept')) === 'yes';

test('an open page says that the database, and then Volley, is away, and goes on by itself when it is back', async () => {
  // It takes half a minute, so that it is still being sent at the end.
  const run = await startOverApi(url(), await scene.tokenOf('run'), 'test.yaml');
  const page = await openRun(run);
  // Only a stream that has read the run for a second knows its rate.
  await page.getByText(/requests a second now/).waitFor({ timeout: 20_000 });

  proxy.stop();
  const away = page.getByText('The database cannot be reached.');
  await away.waitFor({ timeout: 20_000 });
  const before = await sentOn(page);
  expect(await findProblems(page)).toEqual([]);
  const opened = await page.context().newPage();
  await opened.goto(page.url());
  await opened.getByRole('heading', { name: 'Not available now' }).waitFor();
  await proxy.listen();
  await away.waitFor({ state: 'detached', timeout: 20_000 });
  await opened.getByRole('heading', { name: run }).waitFor({ timeout: 20_000 });
  await expect.poll(() => sentOn(page), { timeout: 30_000 }).toBeGreaterThan(before);

  serve.process.kill('SIGKILL');
  await once(serve.process, 'exit');
  const lost = page.getByText('Volley does not answer.');
  await lost.waitFor({ timeout: 20_000 });
  const atKill = await sentOn(page);
  serve = await startServe();
  await lost.waitFor({ state: 'hidden', timeout: 20_000 });
  await expect.poll(() => sentOn(page), { timeout: 30_000 }).toBeGreaterThan(atKill);
  expect(await isSameLoad(page)).toBe(true);
}, 120_000);

test('a page that is opened while the database hangs says so, and opens by itself when it answers', async () => {
  const page = await openRun(await startOverApi(url(), await scene.tokenOf('run'), 'test.yaml'));
  // Its stream has read the run.
  await page.getByText(/requests a second now/).waitFor({ timeout: 20_000 });
  const another = await page.context().newPage();
  const visitor = await page.context().newPage();
  proxy.hang();
  await another.goto(page.url());
  await another.getByText('The database does not answer.').waitFor();
  await page.getByText('The database cannot be reached.').waitFor();
  await visitor.goto(`${url()}/sign-in`);
  await visitor.getByLabel('Your token').fill(await scene.tokenOf('admin'));
  await visitor.getByRole('button', { name: 'Sign in' }).click();
  await visitor.getByText('The database does not answer.').waitFor();
  proxy.stop();
  await proxy.listen();
  await another.getByRole('progressbar', { name: 'Sent' }).waitFor({ timeout: 30_000 });
}, 120_000);

test('a form whose commit is not acknowledged asks the person to look first, and acts once when it is sent again', async () => {
  const person = await signIn(url(), await scene.tokenOf('admin'));
  const path = '/accounts/sandbox/limits';
  const fields = { requestsPerSecond: '40', recipientsPerSecond: '', reason: 'slower' };
  const form = { ...hiddenFields((await person.get(path)).text), ...fields };
  const cut = proxy.cut({ statement: /INSERT INTO audit/i, commit: true, executed: 'at once' });
  const first = await person.post(path, form);
  await cut;
  expect(first.status).toBe(503);
  expect(first.text).toContain('Look whether it was done before you repeat it');
  await expect.poll(async () => (await person.post(path, form)).text).toContain('or by this form itself');
  expect(
    await listAudit(scene.opened.ledger.pool, { action: 'limits set', outcome: 'done' }, 10),
  ).toHaveLength(1);
});
