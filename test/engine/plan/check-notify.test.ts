import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { webhookSecret } from '../../support/webhook-peer.ts';
import { accountsYaml, makeWorkspace, smsCampaignYaml, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(async () => {
  workspace = await makeWorkspace({
    'accounts.yaml': `${accountsYaml}  speech:\n    interface: soap-tts\n    baseUrl: http://127.0.0.1:9\n    sender: me\n    token: \${VOLLEY_SANDBOX_TOKEN}\n`,
    'contacts.csv': 'mobile,name,code\n0412000001,Ann,C1\n',
    'tell.sh': '',
  });
});
afterAll(() => workspace[Symbol.asyncDispose]());

async function check(target: string): Promise<void> {
  await workspace.write('campaign.yaml', `${smsCampaignYaml}notify:\n  - ${target}\n`);
  const environment = {
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
    VOLLEY_SANDBOX_TOKEN: 'x',
    NOTIFY_KEY: webhookSecret,
    NOTIFY_WEAK: 'whsec_c2hvcnQ=',
    NOTIFY_ELSEWHERE: 'http://other.example/hidden-path',
  };
  const prepared = await prepareCampaign('campaign.yaml', { workingFolder: workspace.folder, environment });
  await prepared.close();
}

const hook = (url: string, secret = '${NOTIFY_KEY}', more = '') =>
  `webhook: { url: "${url}", secret: "${secret}"${more} }`;

test.each([
  ['one on this machine', hook('http://127.0.0.1:9/x')],
  ['an https address', hook('https://other.example/x?y=1')],
  [
    'one elsewhere by plain http, where that is allowed',
    hook('${NOTIFY_ELSEWHERE}', '${NOTIFY_KEY}', ', plainHttp: allowed'),
  ],
  ['a program of PATH', 'command: [logger, -t, volley]'],
  [
    'people, through the account of the campaign',
    'email: { to: [ops@example.org], ReplyTo: night@example.org }',
  ],
])('%s can be told', async (_, target) => {
  await expect(check(target)).resolves.toBeUndefined();
});

test.each([
  ['one elsewhere by plain http', hook('${NOTIFY_ELSEWHERE}'), 'must be an https:// address'],
  ['an address with a password', hook('https://me:pass@other.example/'), 'must be an https:// address'],
  [
    'an address with a name that is not set',
    hook('${NOTIFY_NOWHERE}'),
    'Environment variable NOTIFY_NOWHERE is not set',
  ],
  [
    'a secret that is not set',
    hook('https://other.example/', '${NOTIFY_NOWHERE}'),
    'NOTIFY_NOWHERE is not set',
  ],
  [
    'a secret that could be guessed',
    hook('https://other.example/', '${NOTIFY_WEAK}'),
    'must be whsec_ and 24 to 64',
  ],
  [
    'a secret in the file',
    hook('https://other.example/', webhookSecret),
    'a secret must not stand in the file',
  ],
  ['a program that is not there', 'command: [./nowhere.sh]', 'it does not exist'],
  ['a file that is no program', 'command: [./tell.sh]', 'it is not executable'],
  ['two at once', `{ ${hook('https://other.example/')}, command: [x] }`, 'expected one of command, webhook'],
  ['nobody', 'on: [paused]', 'expected one of command, webhook and email'],
  [
    'an event that is none',
    '{ on: [done], command: [x] }',
    'expected completed, failures, paused, missed or refused',
  ],
  ['missed times without a schedule', '{ on: [missed], command: [x] }', 'a campaign with a schedule only'],
  ['an address that is none', 'email: { to: [ops] }', '"ops":'],
  ['an account without e-mail', 'email: { to: [o@example.org], account: speech }', 'cannot send e-mail'],
  ['an account that is not there', 'email: { to: [o@example.org], account: nobody }', 'no account "nobody"'],
  ['a sender with placeholders', 'email: { to: [o@example.org], From: "[[name]]" }', 'without placeholders'],
])('%s is refused, with the place', async (_, target, words) => {
  const [problem = '', ...others] = await problemsRejected(() => check(target));
  expect(others).toEqual([]);
  expect(problem).toMatch(/^campaign\.yaml:\d+:\d+: /);
  expect(problem).toContain(words);
  expect(problem).not.toMatch(/hidden-path|me:pass|whsec_c2|whsec_Bw/);
});
