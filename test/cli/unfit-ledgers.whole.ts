import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { beforeAll, describe, expect, test } from 'vitest';
import { createHashKey } from '../../src/ledger/suppressions/hash.ts';
import { readVersion } from '../../src/platform/package-folder.ts';
import { createBareDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runStatement } from '../support/statement.ts';
import { testWorkspace } from '../support/test-workspace.ts';
import { startInProcess, volleyInProcess } from '../support/volley.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

let database: TestDatabase;
const workspace = testWorkspace({
  'accounts.yaml': accountsYaml,
  'campaign.yaml': smsCampaignYaml,
  'contacts.csv': contactsCsv(2),
});

const surroundings = () => ({
  cwd: workspace.folder,
  env: {
    DATABASE_URL: database.url,
    VOLLEY_HOME: `${workspace.folder}${new URL(database.url).pathname}`,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_HASH_KEY: hashKey,
    LOG_LEVEL: 'silent',
  },
});
const hashKey = 'k'.repeat(40);
const volley = (...words: string[]) => volleyInProcess(words, surroundings());
const query = (sql: string) => runStatement(database.url, sql);

/** Everything that an operator can type first on a night with such a ledger. */
const commands = [
  ['db', 'migrate'],
  ['run', 'campaign.yaml', '--sandbox'],
  ['serve', '--no-receiver', '--no-schedules', '--port', '0'],
  ['suppress', 'list'],
  ['suppress', 'add', '+61412000001', '--channel', 'sms'],
  ['runs'],
] as const;

async function migrationsInDoctor(): Promise<unknown> {
  const { stdout } = await volley('doctor', '--json');
  const { checks }: { checks: { name: string }[] } = JSON.parse(stdout);
  return checks.find(({ name }) => name === 'migrations');
}

/** Like those of commit 0a0bb9df and of 0.1.0, as far as suppressions go. */
const formerLedgers = {
  '0.1.0': { migration: '20261121000000_ledger.ts', account: '' },
  '0.2.0': { migration: '20261122000001_runs', account: "account text NOT NULL DEFAULT ''," },
};

describe.each(Object.entries(formerLedgers))('a ledger of %s', (_version, { migration, account }) => {
  beforeAll(async () => {
    database = await createBareDatabase();
    for (const statement of [
      'CREATE TABLE knex_migrations (id serial, name text, batch integer, migration_time timestamptz)',
      'CREATE TABLE knex_migrations_lock (index serial, is_locked integer)',
      `INSERT INTO knex_migrations (name) VALUES ('${migration}')`,
      `CREATE TABLE suppressions (channel text, address text, ${account} sub_account text NOT NULL DEFAULT '', reason text,
         source text, created_at timestamptz)`,
      `CREATE TABLE hashed_suppressions (channel text, hash bytea, ${account} sub_account text NOT NULL DEFAULT '',
         source text, created_at timestamptz)`,
      'CREATE TABLE hash_key (one boolean, proof bytea)',
    ])
      await query(statement);
    return () => database.drop();
  });

  test.each(commands.map((words) => ({ words, line: words.join(' ') })))(
    'is refused by volley $line with the way on, and stays as it is',
    async ({ words }) => {
      const { code, stdout, stderr } = await volley(...words);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(
        /^Postgres at \S+: is from before Volley 0\.3\.0, and this one \(0\.\S+\) cannot use it\. Make a new ledger, .*upgrade\.md/m,
      );
      expect(stderr).not.toMatch(/Internal error|does not exist/);
      expect(await query('SELECT name FROM knex_migrations')).toEqual([{ name: migration }]);
    },
  );

  test('is named by db status and by doctor', async () => {
    expect(await volley('db', 'status')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('ledger: is from before Volley 0.3.0'),
    });
    expect(await migrationsInDoctor()).toMatchObject({
      state: 'problem',
      found: expect.stringContaining('The ledger is from before Volley 0.3.0'),
      nextStep: expect.stringContaining('Make a new ledger'),
    });
  });

  test('gives its suppressions and hashes to a new one by the commands of docs/how-to/upgrade.md', async () => {
    const values = account === '' ? '' : "'main', ";
    const key = createHashKey(Buffer.from(hashKey));
    const hex = (...words: [string, string]) => `'\\x${key.hash(...words).toString('hex')}'`;
    await query(
      `INSERT INTO suppressions VALUES ('sms', '+61412000001', ${values}'', 'asked', 'reply', '2026-11-01Z')`,
    );
    await query(
      `INSERT INTO hashed_suppressions VALUES ('sms', ${hex('sms', '+61412000002')}, ${values.replace('main', '')}'', 'reply', '2026-11-01Z')`,
    );
    await query(`INSERT INTO hash_key VALUES (true, ${hex('key', 'proof')})`);
    const former = database;
    const made = await createTestDatabase();
    try {
      database = made;
      for (const command of await documentedCopies())
        await copy(account === '' ? command.replaceAll(' account,', '') : command, {
          FORMER: former,
          NEW: made,
        });
      expect((await listSuppressions())[0]).toMatchObject({
        address: '+61412000001',
        account: account === '' ? '' : 'main',
        source: 'reply',
        reason: 'replied "asked"',
      });
      await workspace.write('contacts.csv', 'mobile,name,code\n0412000002,Ann,C\n0412000003,Ben,C\n');
      const sent = await volley('run', 'campaign.yaml', '--sandbox', '--json');
      expect(JSON.parse(sent.stdout)).toMatchObject({ recipients: { delivered: 1 } });
    } finally {
      database = former;
      await made.drop();
    }
  });
});

async function listSuppressions(): Promise<unknown[]> {
  const { stdout } = await volley('suppress', 'list', '--json');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function documentedCopies(): Promise<string[]> {
  const page = await readFile(new URL('../../docs/how-to/upgrade.md', import.meta.url), 'utf8');
  const found = page.match(/psql "\$\w+" -c .*/g) ?? [];
  expect(found).toHaveLength(6);
  return found;
}

/** Does what psql does with `\copy`: the test has no psql. */
async function copy(command: string, databases: Readonly<Record<string, TestDatabase>>): Promise<void> {
  const [, name = '', what, direction, file] =
    /"\$(\w+)" -c "\\copy (.*) (TO|FROM) (\S+) CSV"$/.exec(command) ?? expect.fail(command);
  const client = new pg.Client(databases[name]?.connection ?? expect.fail(name));
  await client.connect();
  const path = `${workspace.folder}/${file}`;
  if (direction === 'TO')
    await pipeline(client.query(to(`COPY ${what} TO STDOUT CSV`)), createWriteStream(path));
  else await pipeline(createReadStream(path), client.query(from(`COPY ${what} FROM STDIN CSV`)));
  await client.end();
}

describe('a ledger of a newer Volley', () => {
  beforeAll(async () => {
    database = await createTestDatabase();
    await query(`INSERT INTO knex_migrations (name) VALUES ('29990101000000_later')`);
    await query(`UPDATE ledger_schema SET volley = '9.1.0'`);
    return () => database.drop();
  });

  const newer = `is of a newer Volley, 9.1.0; this one (${readVersion()}) does not know 1 migration (29990101000000_later). Install Volley 9.1.0 here too.`;

  test('is not called up to date by db migrate, and is named by db status and doctor', async () => {
    const { code, stdout, stderr } = await volley('db', 'migrate');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/: nothing was migrated\.\n$/)]);
    expect(stderr).toContain(newer);
    expect((await volley('db', 'status')).stdout).toContain(`ledger: ${newer}`);
    expect(await migrationsInDoctor()).toMatchObject({
      state: 'problem',
      found: expect.stringContaining('is of a newer Volley, 9.1.0'),
      nextStep: 'Install Volley 9.1.0 here too.',
    });
  });

  test('is used by the commands of the former version, which say so', async () => {
    expect(await volley('runs')).toMatchObject({ code: 0, stderr: expect.stringContaining(newer) });
    const ran = await volley('run', 'campaign.yaml', '--sandbox');
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(newer)]);
    const serve = startInProcess([...commands[2]], surroundings());
    await serve.waitForText(newer);
    await serve.waitForText('API: ');
    serve.stop();
    await serve.ended;
  });
});

describe('a ledger that lacks a column', () => {
  beforeAll(async () => {
    database = await createTestDatabase();
    await query('ALTER TABLE suppressions DROP COLUMN added_by');
    return () => database.drop();
  });

  test.each(commands.map((words) => ({ words, line: words.join(' ') })))(
    'is refused by volley $line, which names the column',
    async ({ words }) => {
      const { code, stdout, stderr } = await volley(...words);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(
        'was altered: column suppressions.added_by is missing. Nothing is sent from it.',
      );
    },
  );

  test('is named by db status and doctor', async () => {
    expect((await volley('db', 'status')).stdout).toContain(
      'ledger: was altered: column suppressions.added_by is missing',
    );
    expect(await migrationsInDoctor()).toMatchObject({
      state: 'problem',
      found: 'The ledger was altered: column suppressions.added_by is missing.',
    });
  });
});
