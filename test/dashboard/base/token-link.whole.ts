import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenLinkPath } from '../../../src/dashboard/paths.ts';
import { createTokenLink } from '../../../src/engine/access/tokens.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { openBrowser } from '../../support/browser.ts';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';
import { volleyInProcess } from '../../support/volley.ts';

let scene: DashboardScene;
beforeAll(async () => {
  scene = await openDashboardScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const owner = 'Jane <b>Doe</b> مدرسة';
let names = 0;
const makeLink = async (): Promise<string> => {
  const request = { owner, scope: 'run', accounts: null, expiresAt: null } as const;
  const { secret } = await createTokenLink(scene.opened.context, { ...request, name: `jane-${++names}` });
  return scene.url + tokenLinkPath(secret);
};
const openPage = async (options: { readonly javaScriptEnabled?: boolean } = {}) =>
  (await (await openBrowser()).newContext({ viewport: { width: 360, height: 740 }, ...options })).newPage();

test('a person opens a link, presses a button, and keeps the token; opened again, it says that it was used', async () => {
  const link = await makeLink();
  const page = await openPage();
  const asked: string[] = [];
  page.on('request', async (request) =>
    asked.push(`${request.url()} ${JSON.stringify(await request.allHeaders())}`),
  );
  await page.goto(link);
  await page.getByRole('heading', { name: `A token for ${owner}` }).waitFor();
  await expectAccessible(page);
  expect(await page.locator('main b').count()).toBe(0);
  await page.getByRole('button', { name: `Sign in as ${owner}` }).press('Enter');
  await page.getByRole('heading', { name: 'Keep your token' }).waitFor();
  await expectAccessible(page);
  const token = await page.getByLabel('Your token').inputValue();
  await page.getByText('Show the token').press('Enter');
  await page.getByText(token, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Go on' }).press('Enter');
  await page.getByRole('heading', { name: 'Runs' }).waitFor();
  await page.locator('header').getByText(owner).waitFor({ state: 'attached' });

  const [, secret = ''] = link.split('#');
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.filter((each) => each.includes(secret) || each.includes(token))).toEqual([]);
  const { entries } = await (await page.context().newCDPSession(page)).send('Page.getNavigationHistory');
  expect(entries.length).toBeGreaterThan(2);
  expect(JSON.stringify(entries)).not.toMatch(new RegExp(`${secret}|${token}`));

  const other = await openPage();
  // Only what stands after the # changes.
  await other.goto(`${scene.url}/sign-in`);
  await other.goto(link);
  await other.getByText('The link works once, and was used at').waitFor();
  expect(other.url()).not.toContain('#');
  await expectAccessible(other);
});

test('without JavaScript the person copies the link into a field', async () => {
  const link = await makeLink();
  const page = await openPage({ javaScriptEnabled: false });
  await page.goto(link);
  await page.getByText('You have got a link to your token').click();
  await page.getByLabel('The link').fill(link);
  await page.getByLabel('The link').press('Enter');
  await page.getByRole('button', { name: `Sign in as ${owner}` }).click();
  await page.getByRole('heading', { name: 'Keep your token' }).waitFor();
});

test('an administrator makes a link in the dashboard, and never sees the token', async () => {
  const page = await scene.browse('/tokens/new', { width: 360 });
  await page.getByLabel('Name').fill('bob');
  await page.getByLabel('Owner').fill('Bob');
  await page.getByRole('button', { name: 'Create a link for the owner' }).press('Enter');
  const link = await page.locator('.secret code').innerText();
  expect(link).toMatch(/^http:\/\/[0-9a-f]{32}\.localhost:\d+\/sign-in#[0-9a-f]{64}$/);
  expect(await page.content()).not.toContain('volley_');
  await expectAccessible(page);
  await page.goto(`${scene.url}/tokens`);
  await page.getByRole('row', { name: 'bob' }).getByText('link open').waitFor();
  const person = await openPage();
  await person.goto(link);
  await person.getByRole('button', { name: 'Sign in as Bob' }).click();
  await person.getByRole('button', { name: 'Go on' }).click();
  await person.locator('header').getByText('Bob').waitFor({ state: 'attached' });
  await page.reload();
  await page.getByRole('row', { name: 'bob' }).getByText('valid').waitFor();
});

test('the command line makes a link for a person, and says what it needs for it', async () => {
  const words = ['token', 'create', '--name', 'cyd', '--owner', 'Cyd', '--scope', 'read', '--link'];
  const without = await scene.command(words);
  expect(without.code).toBe(2);
  expect(without.stderr).toContain('VOLLEY_DASHBOARD_URL: It is not set.');
  const env = { ...scene.environment, VOLLEY_DASHBOARD_URL: 'https://volley.example/' };
  const make = (more: readonly string[]) =>
    volleyInProcess([...words, ...more], { cwd: scene.workspace.folder, env });
  const { code, stdout, stderr } = await make([]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^https:\/\/volley\.example\/sign-in#[0-9a-f]{64}\n$/),
  ]);
  expect(stderr).toBe('Send the link to Cyd. It works once, within 24 hours. It is not shown again.\n');
  const page = await openPage();
  await page.goto(`${scene.url}/sign-in#${stdout.trim().split('#')[1]}`);
  await page.getByRole('button', { name: 'Sign in as Cyd' }).waitFor();
  const [, json] = [await scene.command(['token', 'revoke', 'cyd']), await make(['--json'])];
  expect(JSON.parse(json.stdout)).toMatchObject({
    name: 'cyd',
    owner: 'Cyd',
    link: expect.stringContaining('#'),
  });
});
