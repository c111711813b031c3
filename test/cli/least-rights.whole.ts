import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AcceptingService, startAcceptingService } from '../support/accepting-service.ts';
import { createBareDatabase, type TestDatabase } from '../support/database.ts';
import { runStatement } from '../support/statement.ts';
import { volleyInProcess } from '../support/volley.ts';
import {
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  smsCampaignYaml,
  type Workspace,
} from '../support/workspace.ts';

const deployment = fileURLToPath(new URL('../../docs/how-to/deployment.md', import.meta.url));
const suffix = randomBytes(4).toString('hex');
const [owner, worker] = [`volley_owner_${suffix}`, `volley_${suffix}`];

let database: TestDatabase;
let peer: AcceptingService;
let workspace: Workspace;
beforeAll(async () => {
  database = await createBareDatabase();
  workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'contacts.csv': contactsCsv(20),
    'campaign.yaml': smsCampaignYaml,
  });
  peer = await startAcceptingService();
});
afterAll(async () => {
  await database.drop();
  for (const role of [owner, worker]) await runStatement(inOther('postgres'), `DROP ROLE IF EXISTS ${role}`);
  await peer[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

function inOther(name: string): string {
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  return url.href;
}

function urlOf(role: string): string {
  const url = new URL(database.url);
  url.username = role;
  url.password = role === owner ? 'one password' : 'another password';
  return url.href;
}

/** The SQL of docs/how-to/deployment.md, with the names of this test's database and roles. */
async function blocks(): Promise<string[][]> {
  const text = await readFile(deployment, 'utf8');
  const name = new URL(database.url).pathname.slice(1);
  return [...text.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = '']) =>
    sql
      .replaceAll('DATABASE volley', `DATABASE ${name}`)
      .replaceAll(/(ROLE|TO) volley_owner/g, `$1 ${owner}`)
      .replaceAll(/(ROLE|TO) volley\b/g, `$1 ${worker}`)
      .split(';\n')
      .filter((statement) => statement !== '' && !statement.startsWith('CREATE DATABASE')),
  );
}

function as(role: string, ...words: string[]) {
  const env = {
    DATABASE_URL: urlOf(role),
    VOLLEY_HOME: `${workspace.folder}/state`,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: peer.url,
    VOLLEY_SANDBOX_TOKEN: 'any',
    VOLLEY_WEBHOOK_TOKEN: 'a-token-that-is-long-enough-for-it',
    VOLLEY_HASH_KEY: 'k'.repeat(40),
  };
  return volleyInProcess(words, { cwd: workspace.folder, env });
}

test('the database rights in docs/how-to/deployment.md are enough to work, and do not allow changes of the schema', async () => {
  const [administrator = [], inDatabase = [], byOwner = []] = await blocks();
  for (const statement of [...administrator, ...inDatabase]) await runStatement(database.url, statement);
  expect((await as(owner, 'db', 'migrate')).code).toBe(0);
  for (const statement of byOwner) await runStatement(urlOf(owner), statement);

  const { code, stdout, stderr } = await as(worker, 'run', 'campaign.yaml', '--json');
  expect(stderr).not.toContain('permission denied');
  expect(code).toBe(0);
  const { run } = JSON.parse(stdout);
  const commands = [
    ['status', run],
    ['report', 'run', run],
    ['billing', 'report'],
    ['report', 'contacts', run],
    ['suppress', 'add', '+61412000001', '--channel', 'sms'],
    ['account', 'limits', 'sandbox', '--requests-per-second', '500'],
    ['token', 'create', '--name', 'ops', '--scope', 'read'],
    ['audit'],
    ['delivery-reports', 'missing'],
    ['db', 'status'],
    ['db', 'restored', '--nothing-missing', '--reason', 'a test'],
    ['run', 'campaign.yaml'],
    ['purge', '--older-than', '1d', '--yes'],
  ];
  for (const words of commands) {
    const ended = await as(worker, ...words);
    expect({ words, ...ended }).toMatchObject({ words, code: 0 });
  }

  for (const statement of ['CREATE TABLE mine ()', 'DROP TABLE audit', 'CREATE SCHEMA mine', 'TRUNCATE runs'])
    await expect(runStatement(urlOf(worker), statement)).rejects.toThrow(/permission denied|must be owner/);

  await runStatement(urlOf(owner), "DELETE FROM knex_migrations WHERE name LIKE '%_audit'");
  const older = await as(worker, 'run', 'campaign.yaml');
  expect(older).toMatchObject({ code: 2, stdout: '' });
  expect(older.stderr).toMatch(
    /needs 1 migration, and the role of DATABASE_URL may not .*`volley db migrate`/,
  );
  expect(older.stderr).not.toContain('    at ');
});
