import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf } from '../../src/platform/digest.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { startVolley, volley } from '../support/volley.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let opened: TestLedger;
let workspace: Workspace;
const token = 'webhook-token-of-22-characters-or-more';

const accounts = `accounts:
  main:
    interface: rest-2.02
    baseUrl: https://service.example
    authToken: \${NOT_SET}
    webhookTokenSha256: ${digestOf(token).toString('hex')}
    receiver: { basic: { user: volley, password: "\${PASSWORD}" } }
  "north & south/1":
    interface: rest-2.02
    baseUrl: https://service.example
    authToken: \${NOT_SET}
    webhookToken: \${HOOK}
`;

beforeAll(async () => {
  opened = await openTestLedger();
  workspace = await makeWorkspace({ 'accounts.yaml': accounts });
});
afterAll(async () => {
  await opened.close();
  await workspace[Symbol.asyncDispose]();
});

const surroundings = (more: Readonly<Record<string, string>> = {}) => ({
  cwd: workspace.folder,
  env: {
    ...{ DATABASE_URL: opened.url, VOLLEY_ACCOUNTS: 'accounts.yaml' },
    ...{ HOOK: `${token}-2`, PASSWORD: 'hunter2' },
    ...more,
  },
});

test('serve prints the address of each account as seen from outside, without token or password', async () => {
  const outside = { VOLLEY_PUBLIC_URL: 'https://hooks.example/volley/' };
  const server = startVolley(['serve', '--port', '0'], surroundings(outside));
  await server.says('Reports of account north');
  server.process.kill('SIGTERM');
  const { code, stderr } = await server.ended;
  expect(code).toBe(0);
  expect(stderr).toContain(
    'Reports of account main: POST https://hooks.example/volley/webhook/main/<its webhookToken>\n',
  );
  expect(stderr).toContain(
    'POST https://hooks.example/volley/webhook/north%20%26%20south%2F1/<its webhookToken>\n',
  );
  expect(stderr).not.toContain(token);
  expect(stderr).not.toContain('hunter2');
});

test('serve listens on loopback, and takes what has the token and the password', async () => {
  const server = startVolley(['serve', '--port', '0'], surroundings());
  await server.says('Reports of account north');
  const url = /POST (http:\/\/127\.0\.0\.1:\d+\/webhook)\/main/.exec(server.heard())?.[1];
  const headers = { Authorization: `Basic ${btoa('volley:hunter2')}` };
  const statusOf = async (path: string, init: RequestInit) => (await fetch(`${url}/${path}`, init)).status;
  expect(await statusOf(`main/${token}`, { method: 'POST', body: '{}', headers })).toBe(200);
  expect(await statusOf(`main/${token}`, { method: 'POST', body: '{}' })).toBe(404);
  expect(await statusOf(`north%20%26%20south%2F1/${token}-2?Status=SUCCESS`, {})).toBe(200);
  server.process.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
  expect(server.heard()).toContain('"check":"basic"');
  expect(server.heard()).not.toContain(token);
});

test.each([
  'hooks.example',
  'ftp://hooks.example',
  'https://ann:hunter2@hooks.example',
  'https://h.example/?a=b',
])('serve refuses %s as its public address, and does not show it', async (url) => {
  const { code, stderr } = await volley(['serve', '--port', '0'], surroundings({ VOLLEY_PUBLIC_URL: url }));
  expect(code).toBe(2);
  expect(stderr).toMatch(/VOLLEY_PUBLIC_URL: expected an http:\/\/ or https:\/\/ address/);
  expect(stderr).not.toContain('hunter2');
});
