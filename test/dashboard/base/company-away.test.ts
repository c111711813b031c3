import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DashboardScene, openDashboardScene } from '../../support/dashboard-scene.ts';
import { freePort } from '../../support/free-port.ts';

let scene: DashboardScene;
beforeAll(async () => {
  const port = await freePort();
  scene = await openDashboardScene({
    words: ['--api-port', String(port)],
    environment: {
      VOLLEY_DASHBOARD_URL: `http://127.0.0.1:${port}`,
      VOLLEY_OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
      VOLLEY_OIDC_CLIENT_ID: 'volley',
      VOLLEY_OIDC_CLIENT_SECRET: 'secret',
      VOLLEY_OIDC_TOKENS: '{}',
      VOLLEY_OIDC_USER: 'email',
    },
  });
});
afterAll(() => scene[Symbol.asyncDispose]());

const begin = async (): Promise<number> => (await fetch(`${scene.url}/sign-in/company`)).status;

async function tryToken(): Promise<number> {
  const body = new URLSearchParams({ token: 'volley_wrong' });
  return (await fetch(`${scene.url}/sign-in`, { method: 'POST', body, headers: { origin: scene.url } }))
    .status;
}

test('the provider being away counts as no wrong token, and wrong tokens keep no person from the provider', async () => {
  for (let call = 0; call < 61; call++) expect(await begin()).toBe(422);
  for (let call = 0; call < 60; call++) expect(await tryToken()).toBe(422);
  expect([await tryToken(), await begin()]).toEqual([429, 422]);
});
