import { chmod, chown, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { readJournal } from '../support/journal.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { volley, volleyInProcess } from '../support/volley.ts';
import {
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  smsCampaignYaml,
  type Workspace,
} from '../support/workspace.ts';

let opened: TestLedger;
let project: Workspace;
let sandbox: Sandbox;
const token = 'token-from-the-file';
beforeAll(async () => {
  opened = await openTestLedger();
  project = await makeWorkspace({
    '.volley-project': '',
    'campaigns/accounts.yaml': accountsYaml,
    'campaigns/contacts.csv': contactsCsv(2),
    'campaigns/first.yaml': smsCampaignYaml,
    'below/none': '',
  });
  sandbox = await startSandbox({ token, journal: join(project.folder, 'journal.jsonl') });
});
afterAll(async () => {
  await sandbox.close();
  await opened.close();
  await project[Symbol.asyncDispose]();
});

const settings = () =>
  `DATABASE_URL=${opened.url}\nVOLLEY_SANDBOX_URL=${sandbox.url}\nVOLLEY_SANDBOX_TOKEN=${token}\n`;

async function writeEnv(text: string, path = '.env'): Promise<void> {
  await project.write(path, text);
  await chmod(join(project.folder, path), 0o600);
}
beforeEach(() => writeEnv(settings()));

const at = (words: readonly string[], env: Record<string, string> = {}, path = '') =>
  volleyInProcess(words, { cwd: join(project.folder, path), env });

test('a run takes its database and its secrets from .env of the project, also in a folder below it', async () => {
  const { code, stdout } = await at(['run', '../campaigns/first.yaml', '--json'], {}, 'below');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { recipients: { accepted: 2 } }]);
});

test('the environment takes precedence over .env, also with an empty value, and options over both', async () => {
  const overridden = await at(['run', 'campaigns/first.yaml'], { VOLLEY_SANDBOX_TOKEN: 'other' });
  expect([overridden.code, overridden.stderr]).toEqual([4, expect.stringContaining('refused')]);
  const emptied = await at(['runs'], { DATABASE_URL: '' });
  expect([emptied.code, emptied.stderr]).toEqual([2, expect.stringContaining('.volley: has no ledger yet')]);

  await writeEnv(`${settings()}NO_COLOR=1\nTZ=Pacific/Auckland\n`);
  const screen = { width: 100, colour: true, zone: 'Europe/Berlin' };
  const shown = async (...words: string[]) =>
    (await volleyInProcess(['runs', ...words], { cwd: project.folder, screen })).stdout;
  expect(await shown()).toContain('Planned (Pacific/Auckland)');
  expect(await shown()).not.toContain('\u001b[');
  const asked = await shown('--color', 'always', '--time-zone', 'Asia/Tokyo');
  expect(asked).toContain('Planned (Asia/Tokyo)');
  expect(asked).toContain('\u001b[');
});

test('files of --env-file are read instead of .env, and a later one takes precedence', async () => {
  await writeEnv('VOLLEY_SANDBOX_TOKEN=other\n');
  await writeEnv(settings(), 'night.env');
  await writeEnv('VOLLEY_SANDBOX_TOKEN=wrong\n', 'wrong.env');
  const send = (...files: string[]) =>
    at(['run', 'campaigns/first.yaml', ...files.flatMap((file) => ['--env-file', file])]);
  expect((await send('wrong.env', 'night.env')).code).toBe(0);
  expect((await send('night.env', 'wrong.env')).code).toBe(4);
  expect((await at(['--env-file=night.env', 'runs'])).code).toBe(0);
  const none = await at(['--env-file', '/dev/null', 'runs']);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('has no ledger yet')]);
});

test('a missing --env-file and a line with a mistake end with 2, with file and line and without a value', async () => {
  const missing = await at(['runs', '--env-file', 'gone.env']);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    '--env-file: The file gone.env cannot be read (it does not exist).\n',
  ]);
  await writeEnv(`${settings()}NIGHT TOKEN=s3cret\n`);
  for (const [path, where] of [
    ['', '.env:4'],
    ['below', '../.env:4'],
  ] as const) {
    const wrong = await at(['runs'], {}, path);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr).toBe(`${where}: expected NAME=value, or a comment that begins with #.\n`);
  }
});

test('secrets that other users can read are reported once, with the command that helps', async () => {
  await chmod(join(project.folder, '.env'), 0o644);
  const { code, stderr } = await at(['runs']);
  expect([code, stderr]).toEqual([0, '.env has secrets, and other users can read it. Run: chmod 600 .env\n']);
  await project.write('.env', 'LOG_LEVEL=warn\nVOLLEY_HOME=elsewhere\n');
  await chmod(join(project.folder, '.env'), 0o644);
  expect((await at(['db', 'status'])).stderr).toBe('');
});

test('a folder named .env, and the .env of a folder above that is no project, are not read', async () => {
  await using other = await makeWorkspace({
    '.env': 'mistake\n',
    'python/.env/bin/python': '',
    'python/first.yaml': smsCampaignYaml,
  });
  const { stderr } = await volleyInProcess(['runs'], { cwd: join(other.folder, 'python') });
  expect(stderr).toContain('is in no Volley project');
  expect((await volleyInProcess(['runs'], { cwd: other.folder })).stderr).toMatch(/^\.env:1: /);
});

test('a .env that is a loop of links, a device without an end or larger than any settings is an input error', async () => {
  await using other = await makeWorkspace({ none: '' });
  const path = join(other.folder, '.env');
  const failure = async () => {
    const { code, stderr } = await volleyInProcess(['runs'], { cwd: other.folder });
    return [code, stderr];
  };
  const tooLarge = [2, '.env: The file has more than 1 MiB, as no settings have.\n'];
  await symlink('.env', path);
  expect(await failure()).toEqual([
    2,
    expect.stringContaining('.env: The file cannot be read (its symbolic'),
  ]);
  await rm(path);
  await symlink('/dev/zero', path);
  expect(await failure()).toEqual(tooLarge);
  await rm(path);
  await writeFile(path, '');
  await truncate(path, 2 ** 31);
  expect(await failure()).toEqual(tooLarge);
});

// Only root can make a file of another user.
test.runIf(process.getuid?.() === 0)(
  'in a folder that every user can write to, the .env of another user is read only if it is named',
  async () => {
    await using open = await makeWorkspace({ '.env': 'LOG_LEVEL=loud\n' });
    await chmod(open.folder, 0o777);
    await chown(join(open.folder, '.env'), 65_534, 65_534);
    const ask = (...words: string[]) => volleyInProcess(['runs', ...words], { cwd: open.folder });
    expect((await ask()).stderr).toMatch(
      /^\.env belongs to another user, .*--env-file \.env\n.*is in no Volley project/,
    );
    expect((await ask('--env-file', '.env')).stderr).toContain('LOG_LEVEL');
    await chown(join(open.folder, '.env'), 0, 0);
    expect((await ask()).stderr).toContain('LOG_LEVEL');
  },
);

test('.env gives secrets to accounts only: no campaign, message, attachment or notify command gets them', async () => {
  await writeEnv(settings(), 'night.env');
  const send = async (yaml: string) => {
    await project.write('campaigns/other.yaml', yaml);
    return at(['run', 'campaigns/other.yaml', '--env-file', 'night.env']);
  };
  expect((await send(`${smsCampaignYaml}authToken: \${VOLLEY_SANDBOX_TOKEN}\n`)).stderr).toMatch(
    /other\.yaml:\d+:1: .*authToken/,
  );
  const email = (more: string) => `campaign: mail
account: sandbox
channel: email
contacts: { file: mail.csv }
message: { EmailSubject: a, FromEmail: a@example.com, MessagePlain: "\${VOLLEY_SANDBOX_TOKEN}" }
dispatch: { repeat: allow }
${more}`;
  await project.write('campaigns/mail.csv', 'email\nann@example.org\n');
  expect((await send(email('files: [{ file: ../night.env }]\n'))).stderr).toMatch(
    /other\.yaml:\d+:\d+: .*night\.env/,
  );
  const notify = `notify:\n  - on: [completed]\n    command: ["sh", "-c", "env > ${project.folder}/notified"]\n`;
  expect((await send(email(notify))).code).toBe(0);
  const sent = (await readJournal(join(project.folder, 'journal.jsonl'))).at(-1);
  expect(sent?.message?.fields['MessagePlain']).toBe('${VOLLEY_SANDBOX_TOKEN}');
  const notified = await project.read('notified');
  expect(notified).toContain('VOLLEY_EVENT=completed');
  expect(notified).not.toMatch(/TOKEN|DATABASE_URL/);
});

test('the driver of Postgres gets its own variables of .env too', async () => {
  const url = new URL(opened.url);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  await writeEnv(`DATABASE_URL=${url}\nPGUSER=${username}\nPGPASSWORD=${password}\n`);
  const { code, stderr } = await volley(['runs'], { cwd: project.folder });
  expect([code, stderr]).toEqual([0, '']);
});

test('a name in .env that begins with VOLLEY_ and that nothing reads is refused with its line and the nearest name', async () => {
  await writeEnv(`${settings()}VOLLEY_PUBLIK_URL=https://hooks.example\nVOLLEY_SANDBOX_TOKENS=other\n`);
  const { code, stdout, stderr } = await at(['runs']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toBe(
    [
      '.env:4: VOLLEY_PUBLIK_URL is no setting of Volley, and campaigns/accounts.yaml does not name it as ${VOLLEY_PUBLIK_URL}. Did you mean "VOLLEY_PUBLIC_URL"? If nothing needs it, remove the line.',
      '.env:5: VOLLEY_SANDBOX_TOKENS is no setting of Volley, and campaigns/accounts.yaml does not name it as ${VOLLEY_SANDBOX_TOKENS}. Did you mean "VOLLEY_SANDBOX_TOKEN"? If nothing needs it, remove the line.',
      '',
    ].join('\n'),
  );
});

test('advice about a variable that is not set does not name /dev/null as a file to set it in', async () => {
  const { stderr } = await at(['plan', '--check', 'campaigns/first.yaml', '--env-file', '/dev/null']);
  expect(stderr).toContain('is not set');
  expect(stderr).not.toContain('/dev/null');
});
