import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken, revokeToken } from '../../../src/engine/access/tokens.ts';
import { listAudit } from '../../../src/ledger/audit/audit.ts';
import { expectAccessible } from '../../support/accessibility.ts';
import { openBrowser } from '../../support/browser.ts';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';
import { freePort } from '../../support/free-port.ts';
import {
  clientId,
  clientSecret,
  type IdentityProvider,
  startIdentityProvider,
} from '../../support/identity-provider.ts';
import { volleyInProcess } from '../../support/volley.ts';
import { smsCampaignYaml } from '../../support/workspace.ts';

let scene: DashboardScene;
let provider: IdentityProvider;
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  provider = await startIdentityProvider(address, {
    ann: ['staff', 'operations'],
    bea: ['operations'],
    cyd: ['left'],
    fay: ['chiefs'],
    gus: ['chiefs'],
  });
  environment = {
    VOLLEY_DASHBOARD_URL: address,
    VOLLEY_OIDC_ISSUER: provider.issuer,
    VOLLEY_OIDC_CLIENT_ID: clientId,
    VOLLEY_OIDC_CLIENT_SECRET: clientSecret,
    VOLLEY_OIDC_USER: 'email',
    VOLLEY_OIDC_TOKENS: JSON.stringify({
      email: { 'dee@company.example': 'own', 'unverified@company.example': 'own' },
      groups: { operations: 'operations', left: 'former', chiefs: 'chiefs' },
    }),
  };
  scene = await openDashboardScene({
    words: ['--api-port', String(port)],
    environment,
    files: { 'campaigns/approved.yaml': `${smsCampaignYaml}approval: required\n` },
  });
  const all = { accounts: null, expiresAt: null } as const;
  for (const [name, scope] of [
    ['operations', 'run'],
    ['own', 'read'],
    ['chiefs', 'approve'],
    ['former', 'read'],
  ] as const)
    await createToken(scene.opened.context, { ...all, name, scope, owner: `the team ${name}` });
  await revokeToken(scene.opened.context, 'former');
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const openPage = async (): Promise<Page> => (await (await openBrowser()).newContext()).newPage();

async function begin(page: Page): Promise<void> {
  await page.goto(`${scene.url}/sessions`);
  await page.getByRole('link', { name: "Sign in with your company's account" }).click();
  await page.locator('input[name=login]').waitFor();
}

/** Signs in at the provider, and gives its consent. */
async function finish(login: string, page: Page): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function signInAs(login: string, page: Page): Promise<void> {
  await begin(page);
  await finish(login, page);
}

test('a person signs in at the provider, comes to the page that was asked for, acts under their own name, and signs out', async () => {
  const page = await openPage();
  await signInAs('ann', page);
  await page.getByRole('heading', { name: 'Your sessions' }).waitFor();
  await page.getByRole('link', { name: 'ann@company.example' }).waitFor();
  await page.getByText('(run)').waitFor();
  await page.goto(`${scene.url}/suppressions/add?address=%2B61412000001`);
  await page.getByLabel('Reason').fill('asked');
  await page.getByRole('button', { name: 'Suppress' }).click();
  await page.getByText('was suppressed').waitFor();
  const [entry] = await listAudit(scene.opened.ledger.pool, { action: 'suppressions added' }, 1);
  expect(entry).toMatchObject({ who: 'ann@company.example', token: 'operations' });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${provider.issuer}/session/end?**`);
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.waitForURL(`${scene.url}/sign-in`);
  await expectAccessible(page);
});

test('two people of a group have one token, neither sees the sessions of the other, and each starts a plan of their own', async () => {
  const [ann, bea] = [await openPage(), await openPage()];
  const pages = [ann, bea];
  await signInAs('ann', ann);
  await signInAs('bea', bea);
  await bea.getByRole('link', { name: 'bea@company.example' }).waitFor();
  expect(await bea.getByRole('row').count()).toBe(2);
  for (const page of pages) await page.goto(`${scene.url}/campaigns/test.yaml/start`);
  const plan = (page: Page) => page.locator('form.question input[name=plan]').inputValue();
  expect(await plan(ann)).not.toBe(await plan(bea));
  for (const page of pages) {
    await page.getByRole('button', { name: 'Start the run' }).click();
    await page.getByText('The run is planned; workers send it.').waitFor();
  }
});

test('a person of the company does not approve what they planned as a system user, and a colleague does', async () => {
  const place = { cwd: scene.workspace.folder, env: scene.environment, user: 'Fay@desk' };
  const { stdout } = await volleyInProcess(['run', 'campaigns/approved.yaml', '--json'], place);
  const { run } = JSON.parse(stdout);
  const [fay, gus] = [await openPage(), await openPage()];
  await signInAs('fay', fay);
  await fay.goto(`${scene.url}/runs/${run}/approve`);
  await fay.getByText('It was planned by Fay@desk, and you are fay@company.example.').waitFor();
  await signInAs('gus', gus);
  await gus.goto(`${scene.url}/runs/${run}/approve`);
  await gus.getByLabel('Reason').fill('checked');
  await gus.getByRole('button', { name: 'Approve the run' }).click();
  await gus.getByText('The run is approved').waitFor();
});

test('a person is found by e-mail address, in any case, only if the provider has verified it', async () => {
  const [dee, unverified] = [await openPage(), await openPage()];
  await signInAs('dee', dee);
  await dee.getByText('(read)').waitFor();
  await signInAs('unverified', unverified);
  await unverified.getByText('The identity provider does not say your name (email)').waitFor();
});

test('a person without a token, and one whose token is revoked, read why they are not signed in', async () => {
  for (const [login, words] of [
    ['eve', 'You are eve@company.example, and no token of Volley is for you.'],
    ['cyd', 'The token for you, former, is revoked.'],
  ] as const) {
    const page = await openPage();
    await signInAs(login, page);
    await page.getByText(words).waitFor();
    await expectAccessible(page);
    expect((await page.context().cookies()).filter(({ name }) => name.includes('session_'))).toEqual([]);
  }
});

test('a session ends when the token of its group is revoked', async () => {
  const { context } = scene.opened;
  const page = await openPage();
  await signInAs('dee', page);
  await page.getByText('(read)').waitFor();
  await revokeToken(context, 'own');
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
});

test.each(['no cookie', 'state', 'nonce', 'verifier'])(
  'an answer that does not fit what the browser began signs no person in: %s',
  async (change) => {
    const page = await openPage();
    const browser = page.context();
    await begin(page);
    const [kept] = (await browser.cookies()).filter(({ name }) => name === 'volley_company');
    if (!kept) throw new Error('the browser keeps what it has begun');
    expect([kept.httpOnly, kept.sameSite, kept.path]).toEqual([true, 'Lax', '/sign-in/company']);
    await browser.clearCookies({ name: 'volley_company' });
    const begun = JSON.parse(Buffer.from(kept.value, 'base64url').toString());
    const value = Buffer.from(JSON.stringify({ ...begun, [change]: 'x'.repeat(43) })).toString('base64url');
    if (change !== 'no cookie') await browser.addCookies([{ ...kept, value }]);
    await finish('ann', page);
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    expect((await browser.cookies()).filter(({ name }) => name.includes('session_'))).toEqual([]);
  },
);

test('a person who refuses at the provider reads it, and nothing of an address is taken for a page of another site', async () => {
  const page = await openPage();
  await page.goto(`${scene.url}/sign-in?to=//evil.example`);
  await page.getByRole('link', { name: "Sign in with your company's account" }).click();
  await page.getByRole('link', { name: 'Cancel' }).click();
  await page.getByText('access_denied').waitFor();
});

test('settings without TLS, or with one missing, are refused without quoting the secret', async () => {
  for (const [changed, words] of [
    [{ VOLLEY_OIDC_ISSUER: 'http://login.example' }, 'VOLLEY_OIDC_ISSUER: Expected an https: address'],
    [{ VOLLEY_DASHBOARD_URL: 'http://volley.example' }, 'VOLLEY_DASHBOARD_URL: Expected an https: address'],
    [{ VOLLEY_OIDC_CLIENT_SECRET: '' }, 'VOLLEY_OIDC_CLIENT_SECRET: It is not set.'],
    [{ VOLLEY_OIDC_TOKENS: '{"groups": ["x"]}' }, 'VOLLEY_OIDC_TOKENS: Expected names of tokens'],
    [{ VOLLEY_OIDC_USER: '' }, 'VOLLEY_OIDC_USER: Expected the claim'],
  ] as const) {
    const env = { ...scene.environment, ...environment, ...changed };
    const place = { cwd: scene.workspace.folder, env };
    const { code, stderr } = await volleyInProcess(['serve', '--port', '0', '--api-port', '0'], place);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(stderr).not.toContain(clientSecret);
  }
});
