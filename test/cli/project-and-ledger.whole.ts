import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createBareDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { removeHome } from '../support/embedded-home.ts';
import { runStatement } from '../support/statement.ts';
import { volley, volleyInProcess } from '../support/volley.ts';
import { accountsYaml, makeWorkspace, smsCampaignYaml, type Workspace } from '../support/workspace.ts';

const suppressWords = ['suppress', 'add', '+61412345678', '--channel', 'sms'];
const listWords = ['suppress', 'list', '--csv'];

async function workspaceFor(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const workspace = await makeWorkspace(files);
  onTestFinished(() => workspace[Symbol.asyncDispose]());
  return workspace;
}

describe('a folder outside any project', () => {
  test.each([['runs'], suppressWords, ['db', 'status'], ['db', 'migrate']])(
    'in a folder outside any project, %s makes no ledger and says what to do',
    async (...words) => {
      const { folder } = await workspaceFor();
      const { code, stdout, stderr } = await volleyInProcess(words, { cwd: folder });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(`${folder}: is in no Volley project`);
      expect(stderr).toMatch(/`volley init`.*DATABASE_URL.*VOLLEY_HOME/);
      expect(readdirSync(folder)).toEqual([]);
    },
  );

  test('volley run outside any project names the folder where it expects the accounts file', async () => {
    const { folder } = await workspaceFor({ 'night.yaml': smsCampaignYaml });
    const { code, stderr } = await volleyInProcess(['run', 'night.yaml'], { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${folder} is in no Volley project: go to`)]);
  });

  test('a project marker in a folder above that every user can write to is ignored', async () => {
    const { folder } = await workspaceFor({
      '.volley-project': '',
      'open/.volley-project': '',
      'open/mine/x': '',
    });
    await chmod(join(folder, 'open'), 0o777);
    const { stderr } = await volleyInProcess(['runs'], { cwd: join(folder, 'open/mine') });
    expect(stderr).toContain(`${folder}/.volley: has no ledger yet`);
  });
});

test('a campaign of another project is refused, because the ledger here does not know its earlier runs', async () => {
  const { folder } = await workspaceFor({
    '.volley-project': '',
    'campaigns/accounts.yaml': accountsYaml,
    'shop/.volley-project': '',
    'shop/campaigns/night.yaml': smsCampaignYaml,
  });
  for (const words of [['plan', '--check'], ['plan'], ['run']]) {
    const { code, stderr } = await volleyInProcess([...words, 'shop/campaigns/night.yaml'], { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`belongs to the project ${folder}/shop`)]);
    expect(stderr).toContain(`Go to ${folder}/shop`);
  }
});

test('a campaign of this project that is named through a link is not one of another project', async () => {
  const { folder } = await workspaceFor({
    'shop/.volley-project': '',
    'shop/campaigns/accounts.yaml': accountsYaml,
    'shop/campaigns/night.yaml': smsCampaignYaml,
  });
  await symlink(join(folder, 'shop'), join(folder, 'current'));
  const { stderr } = await volleyInProcess(
    ['plan', '--check', join(folder, 'current/campaigns/night.yaml')],
    {
      cwd: join(folder, 'shop'),
    },
  );
  expect(stderr).not.toContain('belongs to the project');
});

describe('a project', () => {
  let project: Workspace;
  beforeAll(async () => {
    project = await makeWorkspace({ 'campaigns/accounts.yaml': accountsYaml });
  });
  afterAll(async () => {
    await removeHome(join(project.folder, '.volley'));
    await project[Symbol.asyncDispose]();
  });
  const at = (path: string, words: readonly string[]) =>
    volleyInProcess(words, { cwd: join(project.folder, path) });

  test('a project whose ledger is elsewhere, for example after a clone, gets no new ledger silently', async () => {
    await project.write('.volley-project', '');
    for (const words of [['runs'], suppressWords]) {
      const { code, stderr } = await at('', words);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('.volley: has no ledger yet. Run `volley init`'),
      ]);
    }
    expect(existsSync(join(project.folder, '.volley'))).toBe(false);
    expect((await at('', ['db', 'status'])).stdout).toMatch(/ledger: none yet/);
  });

  test('a project gets its ledger from volley init, which reports it and later leaves it unchanged', async () => {
    const made = await at('', ['init', '--json']);
    expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/A new, empty ledger was made: /) });
    expect(JSON.parse(made.stdout)).toMatchObject({ made: false, ledger: { made: true } });
    expect(await project.read('.volley-project')).toBe('');
    expect(await project.read('campaigns/accounts.yaml')).toBe(accountsYaml);

    expect((await at('', suppressWords)).code).toBe(0);
    const again = await at('', ['init']);
    expect(again.stdout).toMatch(/is a Volley project\.\nIts ledger existed already: embedded Postgres/);
    expect(again.stderr).toBe('');
    expect((await at('', listWords)).stdout).toContain('+61412345678');
  });

  test('a project has the same ledger, accounts and hash key from every folder below it', async () => {
    await project.write('.volley/hash-key', `${'f'.repeat(64)}\n`);
    expect((await at('campaigns', listWords)).stdout).toContain('+61412345678');
    const status = JSON.parse((await at('campaigns', ['db', 'status', '--json'])).stdout);
    expect(status).toMatchObject({ home: join(project.folder, '.volley'), ledger: 'there' });
    expect(readFileSync(status.logFile, 'utf8')).toMatch(/database system is ready/);
    expect((await at('campaigns', ['account', 'limits'])).stdout).toContain('sandbox');
    expect(readdirSync(join(project.folder, 'campaigns'))).toEqual(['accounts.yaml']);
  });

  test('volley init makes no second project inside a project by mistake', async () => {
    const { code, stderr } = await at('campaigns', ['init']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/is inside the project .*`volley init \.`/)]);
    expect(existsSync(join(project.folder, 'campaigns/.volley'))).toBe(false);
  });
});

describe('an empty database in DATABASE_URL', () => {
  let bare: TestDatabase;
  let workspace: Workspace;
  beforeAll(async () => {
    bare = await createBareDatabase();
    workspace = await makeWorkspace();
  });
  afterAll(async () => {
    await bare.drop();
    await workspace[Symbol.asyncDispose]();
  });
  const ask = (words: readonly string[]) =>
    volleyInProcess(words, { cwd: workspace.folder, env: { DATABASE_URL: bare.url } });
  const tables = () =>
    runStatement(
      bare.url,
      `SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );

  test.each([['runs'], ['status', 'x'], ['schedule', 'list'], suppressWords])(
    'in an empty database, %s makes no ledger and says so',
    async (...words) => {
      const { code, stdout, stderr } = await ask(words);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^Postgres at .*: has no ledger yet\. Run `volley init`/);
      expect(stderr).not.toContain('password');
      expect(await tables()).toEqual([]);
    },
  );

  test('volley db status reports an empty database, and volley db migrate makes a ledger in it and says so', async () => {
    expect((await ask(['db', 'status'])).stdout).toMatch(/ledger: none yet: the database is empty/);
    expect(await tables()).toEqual([]);
    const made = await ask(['db', 'migrate']);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('A new, empty ledger was made')]);
    expect((await ask(['db', 'status'])).stdout).toMatch(/ledger: fits this version/);
    expect((await ask(['runs'])).stdout).toMatch(/^There is no run yet/);
  });

  test('a command that only reads does not migrate a database', async () => {
    const last = await runStatement(
      bare.url,
      `DELETE FROM knex_migrations WHERE id = (SELECT max(id) FROM knex_migrations) RETURNING name`,
    );
    expect(last).toHaveLength(1);
    const { code, stderr } = await ask(['runs']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/is of an older Volley, .* \(1 migration missing\).*`volley db migrate`/);
    expect((await ask(['db', 'status'])).stdout).toMatch(/ledger: is of an older Volley/);
  });
});

const looking: readonly (readonly string[])[] = [
  ['runs'],
  ['db', 'status'],
  ['audit'],
  ['token', 'list'],
  ['billing', 'list'],
  ['schedule', 'list'],
  ['suppress', 'list'],
  ['delivery-reports', 'list'],
  ['delivery-reports', 'missing'],
  ['billing', 'report'],
  ['report', 'campaigns'],
  ['billing', 'reconcile', '--invoice', 'invoice.csv', '--from', '2026-11'],
  ['account', 'limits'],
  ['purge', '--older-than', '400d', '--dry-run'],
  ['plan', 'night.yaml'],
];

test('commands that only read work in a database that refuses every change', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const name = new URL(database.url).pathname.slice(1);
  await runStatement(database.url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  const { folder } = await workspaceFor({
    'accounts.yaml': accountsYaml,
    'invoice.csv': 'MessageID,Recipient,Price\n',
    'night.yaml': smsCampaignYaml,
    'contacts.csv': 'mobile,name,code\n0412000001,Ann,A\n',
  });
  const env = {
    DATABASE_URL: database.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
    VOLLEY_SANDBOX_TOKEN: 'x',
  };
  for (const words of looking) {
    const { code, stderr } = await volleyInProcess(words, { cwd: folder, env });
    expect([words, code, stderr.replace(/^Not shown: .*\n/, '')]).toEqual([words, 0, '']);
  }
  expect(readdirSync(folder)).toHaveLength(4);
});

test('volley schedule next reads the campaign files without a ledger', async () => {
  const campaign = (schedule: string, name = 'c') =>
    `campaign: ${name}\naccount: sandbox\nchannel: sms\nschedule: { ${schedule} }\ncontacts: { file: c.csv }\nmessage: { Message: Hi }\n`;
  const { folder } = await workspaceFor({
    '.volley-project': '',
    'campaigns/nightly.yaml': campaign('cron: "30 2 * * *", timeZone: Pacific/Auckland'),
    'campaigns/once.yaml': campaign('at: [2020-12-01T09:00], timeZone: UTC', 'once'),
  });
  for (const cwd of [folder, join(folder, 'campaigns')]) {
    const { code, stdout } = await volleyInProcess(['schedule', 'next', '--limit', '3', '--json'], { cwd });
    const times = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([code, times.map(({ schedule }) => schedule)]).toEqual([0, Array(3).fill('nightly.yaml')]);
  }

  await writeFile(
    join(folder, 'campaigns/broken.yaml'),
    campaign('cron: "61 * * * *", timeZone: UTC', 'broken'),
  );
  const { code, stdout, stderr } = await volleyInProcess(['schedule', 'next'], { cwd: folder });
  expect(stdout).toContain('nightly.yaml');
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/^campaigns\/broken\.yaml:\d+:\d+: "schedule\.cron"/),
  ]);

  // A line with wrong indentation does not remove a schedule silently.
  const shifted = campaign('cron: "30 2 * * *", timeZone: UTC').replace('schedule:', ' schedule:');
  await writeFile(join(folder, 'campaigns/broken.yaml'), shifted);
  expect(await volleyInProcess(['schedule', 'next'], { cwd: folder })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^campaigns\/broken\.yaml:\d+:\d+: The indentation/),
  });
});

describe('a VOLLEY_HOME that cannot be made', () => {
  const error = / cannot be written \(.*\)\. Set VOLLEY_HOME to a folder you can write/;

  test.each(['file', 'file/below', '/dev/null'])('VOLLEY_HOME=%s ends with an error', async (home) => {
    const { folder } = await workspaceFor({ file: '' });
    const { code, stderr } = await volleyInProcess(suppressWords, {
      cwd: folder,
      env: { VOLLEY_HOME: home },
    });
    expect([code, stderr]).toEqual([2, expect.stringMatching(error)]);
  });

  // This used to hang.
  test('a VOLLEY_HOME that is a file ends commands that only read with an error too', async () => {
    const { folder } = await workspaceFor({ taken: '' });
    for (const words of [['runs'], ['init'], suppressWords]) {
      const { code, stderr } = await volleyInProcess(words, { cwd: folder, env: { VOLLEY_HOME: 'taken' } });
      expect([words, code, stderr]).toEqual([
        words,
        2,
        expect.stringMatching(/taken: (has no|cannot be written)/),
      ]);
    }
  });

  test('VOLLEY_HOME=/proc/volley/below ends with an error', async () => {
    const { folder } = await workspaceFor();
    const env = { VOLLEY_HOME: '/proc/volley/below' };
    const { code, stderr } = await volley(suppressWords, { cwd: folder, env });
    expect([code, stderr]).toEqual([2, expect.stringMatching(error)]);
  });
});
