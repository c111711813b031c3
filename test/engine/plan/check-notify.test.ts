import { expect, test } from 'vitest';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { webhookSecret } from '../../support/webhook-peer.ts';
import { accountsYaml, settingsIn, smsCampaignYaml } from '../../support/workspace.ts';

const workspace = testWorkspace({
  'accounts.yaml': `${accountsYaml}  speech:\n    interface: soap-tts\n    baseUrl: http://127.0.0.1:9\n    sender: me\n    token: \${VOLLEY_SANDBOX_TOKEN}\n`,
  'contacts.csv': 'mobile,name,code\n0412000001,Ann,C1\n',
  'notify.sh': '',
});

async function check(target: string): Promise<void> {
  await workspace.write('campaign.yaml', `${smsCampaignYaml}notify:\n  - ${target}\n`);
  const environment = {
    NOTIFY_KEY: webhookSecret,
    NOTIFY_WEAK: 'whsec_c2hvcnQ=',
    NOTIFY_ELSEWHERE: 'http://other.example/hidden-path',
  };
  const prepared = await prepareCampaign('campaign.yaml', settingsIn(workspace, environment));
  await prepared.close();
}

const webhookTarget = (url: string, secret = '${NOTIFY_KEY}', more = '') =>
  `webhook: { url: "${url}", secret: "${secret}"${more} }`;

test.each([
  ['a webhook on this machine', webhookTarget('http://127.0.0.1:9/x')],
  ['a webhook with https', webhookTarget('https://other.example/x?y=1')],
  [
    'a remote webhook with plain http, where that is allowed',
    webhookTarget('${NOTIFY_ELSEWHERE}', '${NOTIFY_KEY}', ', plainHttp: allowed'),
  ],
  ['a program of PATH', 'command: [logger, -t, volley]'],
  [
    'e-mail through the account of the campaign',
    'email: { to: [ops@example.org], ReplyTo: night@example.org }',
  ],
])('checkNotify accepts %s', async (_, target) => {
  await expect(check(target)).resolves.toBeUndefined();
});

test.each([
  ['a remote webhook with plain http', webhookTarget('${NOTIFY_ELSEWHERE}'), 'must be an https:// address'],
  [
    'an address with a password',
    webhookTarget('https://me:pass@other.example/'),
    'must be an https:// address',
  ],
  [
    'an unset variable in the address',
    webhookTarget('${NOTIFY_NOWHERE}'),
    'Environment variable NOTIFY_NOWHERE is not set',
  ],
  [
    'an unset variable in the secret',
    webhookTarget('https://other.example/', '${NOTIFY_NOWHERE}'),
    'NOTIFY_NOWHERE is not set',
  ],
  [
    'a guessable secret',
    webhookTarget('https://other.example/', '${NOTIFY_WEAK}'),
    'must be whsec_ and 24 to 64',
  ],
  [
    'a secret in the file',
    webhookTarget('https://other.example/', webhookSecret),
    'a secret must not be in the file',
  ],
  ['a missing program', 'command: [./nowhere.sh]', 'it does not exist'],
  ['a file that is not executable', 'command: [./notify.sh]', 'it is not executable'],
  [
    'a target with webhook and command',
    `{ ${webhookTarget('https://other.example/')}, command: [x] }`,
    'expected one of command, webhook',
  ],
  [
    'a target without webhook, command and email',
    'on: [paused]',
    'expected one of command, webhook and email',
  ],
  [
    'an unknown event',
    '{ on: [done], command: [x] }',
    'expected completed, failures, paused, missed or refused',
  ],
  [
    'the event missed without a schedule',
    '{ on: [missed], command: [x] }',
    'needs a campaign with a schedule',
  ],
  ['an invalid address', 'email: { to: [ops] }', '"ops":'],
  ['an account without e-mail', 'email: { to: [o@example.org], account: speech }', 'cannot send e-mail'],
  ['an unknown account', 'email: { to: [o@example.org], account: nobody }', 'no account "nobody"'],
  ['a sender with placeholders', 'email: { to: [o@example.org], From: "[[name]]" }', 'without placeholders'],
])('checkNotify refuses %s and names its location', async (_, target, words) => {
  const [problem = '', ...others] = await problemsRejected(() => check(target));
  expect(others).toEqual([]);
  expect(problem).toMatch(/^campaign\.yaml:\d+:\d+: /);
  expect(problem).toContain(words);
  expect(problem).not.toMatch(/hidden-path|me:pass|whsec_c2|whsec_Bw/);
});
