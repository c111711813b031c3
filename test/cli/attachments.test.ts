import { link, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Ended, volleyInProcess } from '../support/volley.ts';
import { accountsYaml, makeWorkspace, type Workspace } from '../support/workspace.ts';

let database: TestDatabase;
let workspace: Workspace;
const at = (name: string): string => join(workspace.folder, 'night', name);

beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await makeWorkspace({
    'night/accounts.yaml': accountsYaml,
    'night/.env': 'SECRET=1',
    'night/other/report.pdf': '%PDF of another campaign',
    'night/statements/1.pdf': '%PDF one',
    'night/statements/.hidden.pdf': '%PDF hidden',
    'night/statements/notes.YAML': 'a: b',
    'night/statements/ordinary.pdf': '%PDF',
    'night/stop.csv': 'email\nzoe@example.org\n',
  });
  await workspace.write('night/contacts.csv', 'email,file\n');
  await symlink('../accounts.yaml', at('statements/accounts.pdf'));
  await symlink('../.env', at('statements/env.pdf'));
  await symlink('../other', at('statements/other'));
  await symlink('../other/report.pdf', at('statements/report.pdf'));
  await link(at('accounts.yaml'), at('statements/second-name.pdf'));
  await link(at('contacts.csv'), at('statements/list.pdf'));
  await link(at('stop.csv'), at('statements/stop.pdf'));
});
afterAll(async () => {
  await database.drop();
  await workspace[Symbol.asyncDispose]();
});

const campaign = (file: string): string => `campaign: statements
account: sandbox
channel: email
contacts: { file: contacts.csv, suppressions: [stop.csv], maxInvalid: 100%, allowEmpty: true }
message: { EmailSubject: Statement, FromEmail: a@example.org, MessagePlain: Hello }
attachments: .
files: [{ file: ${JSON.stringify(file)}, name: statement.pdf }]
`;

async function plan(file: string, ...rows: readonly string[]): Promise<Ended> {
  await workspace.write('night/campaign.yaml', campaign(file));
  const contacts = rows.map((row, index) => `r${index}@example.org,${row}\n`).join('');
  await workspace.write('night/contacts.csv', `email,file\n${contacts}`);
  return volleyInProcess(['plan', 'night/campaign.yaml', '--json'], {
    cwd: workspace.folder,
    env: {
      DATABASE_URL: database.url,
      VOLLEY_ACCOUNTS: 'night/accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
      VOLLEY_SANDBOX_TOKEN: 'any',
      VOLLEY_WEBHOOK_TOKEN: 'a-token-of-at-least-22-characters',
    },
  });
}

describe('an attachment that a row names', () => {
  test('an attachment that a row names is sent from the folder before the placeholder', async () => {
    const { stdout } = await plan('statements/[[file]]', '1.pdf', 'ordinary.pdf');
    expect(JSON.parse(stdout)).toMatchObject({ recipients: 2, rejected: [] });
  });

  const outside = 'it lies outside statements, the only folder that rows can use';
  test.each([
    ['.hidden.pdf', 'hidden files are not sent'],
    ['notes.YAML', 'YAML files are not sent'],
    ['accounts.pdf', outside],
    ['env.pdf', outside],
    ['report.pdf', outside],
    ['second-name.pdf', 'it is a file of the campaign itself'],
    ['list.pdf', 'it is a file of the campaign itself'],
    ['stop.pdf', 'it is a file of the campaign itself'],
  ])(
    'an attachment that a row names is refused if it is %s, also through links: %s',
    async (row, problem) => {
      const { stdout } = await plan('statements/[[file]]', row);
      expect(JSON.parse(stdout)).toMatchObject({
        recipients: 0,
        rejected: [{ detail: `the file "statements/${row}" cannot be sent: ${problem}` }],
      });
    },
  );

  test('an attachment that a row names cannot leave its folder through dots or folders joined from two placeholders', async () => {
    const { stdout } = await plan('statements/[[file]][[file]]/accounts.yaml', '.', '..');
    const details = JSON.parse(stdout).rejected.map(({ detail }: { detail: string }) => detail);
    expect(details[0]).toMatch(/cannot be sent along|another folder/);
    expect(details[1]).toContain('another folder');
    const linked = await plan('statements/[[file]]/report.pdf', 'other');
    expect(linked.stdout).toContain(outside);
  });
});

test.each(['[[file]]', './[[file]]', 'statements-[[file]]', 'statements/../[[file]]', '[[file]]/1.pdf'])(
  'a placeholder without a folder before it is an error of the campaign: %s',
  async (file) => {
    const { code, stderr } = await plan(file, '1.pdf');
    expect(code).toBe(2);
    expect(stderr).toMatch(/a folder before it|inside the campaign's folder/);
  },
);

test('a folder of attachments that rows name contains no file of the campaign itself', async () => {
  await workspace.write('night/lists/stop.csv', 'email\n');
  await workspace.write(
    'night/campaign.yaml',
    campaign('lists/[[file]]').replace('stop.csv', 'lists/stop.csv'),
  );
  await workspace.write('night/contacts.csv', 'email,file\na@example.org,x.pdf\n');
  const { code, stderr } = await volleyInProcess(['plan', 'night/campaign.yaml'], {
    cwd: workspace.folder,
    env: {
      DATABASE_URL: database.url,
      VOLLEY_ACCOUNTS: 'night/accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
      VOLLEY_SANDBOX_TOKEN: 'x',
    },
  });
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('lists holds stop.csv, a file of the campaign itself'),
  ]);
});

test.each([
  ['accounts.yaml', 'it is a file of the campaign itself'],
  ['campaign.yaml', 'it is a file of the campaign itself'],
  ['contacts.csv', 'it is a file of the campaign itself'],
  ['.env', 'it is a file of the campaign itself'],
  ['statements/notes.YAML', 'YAML files are not sent'],
])('a campaign cannot attach %s', async (file, problem) => {
  const { code, stderr } = await plan(file, '1.pdf');
  expect([code, stderr]).toEqual([2, expect.stringContaining(`cannot be sent: ${problem}.`)]);
});
