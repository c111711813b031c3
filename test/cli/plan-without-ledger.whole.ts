import { readdirSync } from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeHome } from '../support/embedded-home.ts';
import { runStatement } from '../support/statement.ts';
import { testWorkspace } from '../support/test-workspace.ts';
import { startVolley, volley } from '../support/volley.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const workspace = testWorkspace({
  'accounts.yaml': accountsYaml,
  'campaign.yaml': smsCampaignYaml,
  'contacts.csv': `${contactsCsv(3)}0412000001,Ann,C\n0412000009,Zoe,C\n`,
  'stop.csv': 'mobile\n0412000009\n',
});
/** For temporary files of the command. */
let temporary: string;
beforeEach(() => {
  temporary = makeHome('volley-test-plan-');
});

const where = (more: Readonly<Record<string, string>> = {}) => ({
  cwd: workspace.folder,
  env: {
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
    VOLLEY_SANDBOX_TOKEN: 'any',
    TMPDIR: temporary,
    ...more,
  },
});

test('a plan without a ledger knows duplicates and suppression files, and leaves nothing behind', async () => {
  await workspace.write('campaign.yaml', smsCampaignYaml.replace('AU', 'AU\n  suppressions: [stop.csv]'));
  const { code, stdout, stderr } = await volley(['plan', 'campaign.yaml', '--json'], where());
  expect([code, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toMatchObject({
    ledger: 'not read',
    contacts: { read: 5, invalid: 0, duplicate: 1, suppressed: 1 },
    recipients: 3,
  });
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(workspace.folder)).toHaveLength(4);
});

test('a plan without a ledger says what goes first and what stops the run, but not what is usual', async () => {
  const watched = `${smsCampaignYaml}canary: { recipients: 1 }\nguard: { undelivered: { above: 5%, or: usual } }\n`;
  await workspace.write('campaign.yaml', watched);
  const { code, stdout } = await volley(['plan', 'campaign.yaml'], where());
  expect(code).toBe(0);
  expect(stdout).toContain('  canary      1 of 4 recipients go first, in request 1;');
  expect(stdout).toMatch(/ {2}guard {7}the run pauses when significantly more recipients are undelivered, /);
  expect(stdout).not.toContain('  usual ');
});

test('a ledger that must be migrated first is not read and not changed by a plan, which says so', async () => {
  const database: TestDatabase = await createTestDatabase();
  try {
    await runStatement(
      database.url,
      'DELETE FROM knex_migrations WHERE id = (SELECT max(id) FROM knex_migrations)',
    );
    const { code, stdout, stderr } = await volley(
      ['plan', 'campaign.yaml', '--json'],
      where({ DATABASE_URL: database.url }),
    );
    expect([code, JSON.parse(stdout).ledger]).toEqual([0, 'not read']);
    expect(stderr).toMatch(
      /is of an older Volley, .*`volley db migrate` first\.\nContinuing without the ledger\./,
    );
  } finally {
    await database.drop();
  }
});

test('a plan that is stopped while it reads leaves no server and no files behind', async () => {
  const plan = startVolley(['plan', 'campaign.yaml', '--contacts', '-'], {
    ...where(),
    // More than its beginning, which is read before.
    input: contactsCsv(50_000),
    keepInputOpen: true,
  });
  await expect
    .poll(() => readdirSync(temporary, { recursive: true }), { timeout: 30_000 })
    .toContainEqual(expect.stringMatching(/postmaster\.pid$|users\.lock$/));
  plan.process.kill('SIGINT');
  const { code, stderr } = await plan.ended;
  expect([code, stderr]).toEqual([130, expect.stringContaining('A plan sends nothing.')]);
  expect(readdirSync(temporary)).toEqual([]);
});
