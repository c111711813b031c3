import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const real = accountsYaml
  .replace('sandbox:', 'main:')
  .replace('${VOLLEY_SANDBOX_URL}', 'https://service.example');
const soap = `  voices:\n    interface: soap-tts\n    baseUrl: \${VOLLEY_SANDBOX_URL}/soap\n    sender: demo@example.com\n    token: \${VOLLEY_SANDBOX_TOKEN}\n`;
const scene = useLedgerScene(
  {
    'accounts.yaml': `${accountsYaml}${soap}${real.replace('\naccounts:\n', '')}`,
    'contacts.csv': `${contactsCsv(5)}04120,Broken,C9\n`,
    'sms.yaml': smsCampaignYaml,
    'calls.yaml': smsCampaignYaml
      .replace('account: sandbox', 'account: voices')
      .replace('channel: sms', 'channel: tts')
      .replace('Message: "', 'MessageToPeople: "'),
    'main.yaml': smsCampaignYaml.replace('account: sandbox', 'account: main'),
    'planned.yaml': smsCampaignYaml.replace('Hello', 'Dear'),
    'again.yaml': smsCampaignYaml.replace('Hello', 'Good day,'),
    'approved.yaml': `${smsCampaignYaml}approval: required\n`,
    'capped.yaml': smsCampaignYaml.replace('file: contacts.csv', 'file: contacts.csv\n  notWithin: 7d'),
    'pattern.yaml': smsCampaignYaml.replace('file: contacts.csv', 'file: "cont*.csv"'),
    'mail.yaml': `${smsCampaignYaml}notify:\n  - { on: [completed], email: { to: [ops@example.org], account: main } }\n`,
  },
  { VOLLEY_ACCOUNTS: 'accounts.yaml' },
);

const run = (file: string, ...words: string[]) => scene.command(['run', file, '--sandbox', ...words]);

test('run --sandbox sends to a sandbox of its own, needs no token, and prints what was delivered, then the next step', async () => {
  const { code, stdout, stderr } = await run('sms.yaml');
  expect([code, stderr]).toEqual([0, expect.stringContaining('Sandbox on http://127.0.0.1:')]);
  expect(stdout).toMatch(
    / {2}contacts {4}6 read: 1 invalid\n.*\n {2}recipients {2}5: 5 delivered\n {2}outcome {5}6: 5 delivered, 1 left out; 100\.0 % delivered\n$/,
  );
  const [, id] = /Run (\S+)/.exec(stdout) ?? [];
  expect(stderr).toContain('5/5 delivery reports\n');
  expect(stderr).toMatch(new RegExp(`\\nNext:\\n {2}volley report run ${id} .*\\n`));
});

test('run --sandbox sends calls through an account with another interface too, and prints one JSON object', async () => {
  const { code, stdout } = await run('calls.yaml', '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { state: 'completed', recipients: { delivered: 5 } }]);
});

test.each([
  ['main.yaml', 'main.yaml:3:10: Account "main" is at https://service.example'],
  ['pattern.yaml', 'pattern.yaml:6:9: "contacts.file" is a pattern.'],
  ['capped.yaml', /capped\.yaml:7:\d+: "contacts\.notWithin" would count/],
  ['mail.yaml', /mail\.yaml:\d+:\d+: Account "main" is at https:\/\/service\.example/],
])(
  'run --sandbox refuses %s, which would send through an account of a service, or keep recipients from a real run',
  async (file, message) => {
    const env = { VOLLEY_SANDBOX_TOKEN: 'any' };
    const { code, stdout, stderr } = await scene.command(['run', file, '--sandbox'], { env });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  },
);

test('run --sandbox counts for a cap of its account, and is refused where a cap counts all accounts', async () => {
  const limited = accountsYaml.replace('sandbox:', 'limited:');
  const cap = 'frequency: { most: 1, within: 7d }\n';
  await scene.workspace.write(
    'limited.yaml',
    smsCampaignYaml.replace('account: sandbox', 'account: limited'),
  );
  await scene.workspace.write('own.yaml', `${limited}    ${cap}`);
  await scene.workspace.write('all.yaml', `${limited}${cap}`);
  const trial = (accounts: string) =>
    scene.command(['run', 'limited.yaml', '--sandbox', '--again'], { env: { VOLLEY_ACCOUNTS: accounts } });
  expect((await trial('own.yaml')).code).toBe(0);
  expect(await trial('own.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      '5 suppressed (5 would get more than 1 message within 7d (frequency of the account))',
    ),
  });
  expect(await trial('all.yaml')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('limited.yaml:3:10: The accounts file has a "frequency" of all accounts'),
  });
});

test('a test of such a campaign is sent to the sandbox, because it is not counted', async () => {
  const { code, stdout } = await run('capped.yaml', '--test-to', '+61491570006', '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { recipients: { delivered: 1 } }]);
});

test('resume --sandbox sends the rest of a run to a sandbox of its own', async () => {
  expect((await run('approved.yaml')).code).toBe(4);
  expect((await scene.command(['approve', 'latest'], { user: 'second@here' })).code).toBe(0);
  const { code, stdout } = await scene.command(['resume', 'latest', '--sandbox']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('5 delivered')]);
  const all = await scene.command(['resume', '--all', '--sandbox']);
  expect([all.code, all.stderr]).toEqual([2, '--sandbox: It needs one <run>, not --all.\n']);
});

/** No sandbox listens there. */
const env = { VOLLEY_SANDBOX_URL: 'http://127.0.0.1:1', VOLLEY_SANDBOX_TOKEN: 'any' };
const volley = (...words: string[]) => scene.command(words, { env });

test('run --plan --sandbox sends exactly the plan to a sandbox of its own', async () => {
  expect((await volley('plan', 'planned.yaml', '--out', 'plan.json')).code).toBe(0);
  const { code, stdout, stderr } = await volley('run', '--plan', 'plan.json', '--sandbox');
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('5 delivered'), expect.any(String)]);
  const again = await volley('run', '--plan', 'plan.json', '--sandbox');
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('This plan was run')]);
});

test('rerun --sandbox sends again to a sandbox of its own', async () => {
  const refusing = createServer((request, response) => {
    request.resume();
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"Result":"Failed","ErrorMessage":["not today"]}');
  });
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  const { port } = z.object({ port: z.number() }).parse(refusing.address());
  const refused = await scene.command(['run', 'again.yaml'], {
    env: { ...env, VOLLEY_SANDBOX_URL: `http://127.0.0.1:${port}` },
  });
  expect([refused.code, refused.stdout]).toEqual([3, expect.stringContaining('5 rejected')]);
  refusing.close();
  const { code, stdout, stderr } = await volley('rerun', 'latest', '--state', 'rejected', '--sandbox');
  expect([code, stdout]).toEqual([0, expect.stringContaining('5 delivered')]);
  expect(stderr).toContain('Sandbox on http://127.0.0.1:');
});

test('run --of --sandbox sends fixed contacts to a sandbox of its own', async () => {
  expect((await run('sms.yaml')).code).toBe(0);
  const { run: origin } = JSON.parse((await volley('runs', '--limit', '1', '--json')).stdout);
  await scene.workspace.write('fixed.csv', 'mobile,name,code\n0412000099,Fixed,C9\n');
  const { code, stdout } = await volley(
    ...['run', 'sms.yaml', '--contacts', 'fixed.csv', '--of', origin, '--sandbox'],
  );
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 delivered')]);
});

test('a run without --sandbox that finds no sandbox on this machine names --sandbox', async () => {
  const { code, stderr } = await volley('run', 'sms.yaml');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('For a trial, add --sandbox, or start `volley sandbox`'),
  ]);
});
