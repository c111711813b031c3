import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PreparedCampaign, prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { openLedger } from '../../../src/ledger/connection.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { createBareDatabase, createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { openLedgerIn, type TestLedger } from '../../support/ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, makeWorkspace, settingsIn, type Workspace } from '../../support/workspace.ts';

let database: TestDatabase;
let opened: TestLedger;
let workspace: Workspace;
/** Without the rights that every role has by default. */
let role: string;

beforeAll(async () => {
  database = await createTestDatabase();
  opened = await openLedgerIn(database);
  workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'contacts.csv': 'to,name\n0412000001,Ann\n0412000002,Bob\n0412 000 001,Ann\n0412000003,Cy\n',
    'stop.csv': 'Mobile\n0412000003\n',
    'campaign.yaml': `campaign: test
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU, columns: { Recipient: to }, suppressions: [stop.csv], notWithin: 1d }
message: { Message: "Hi [[name]]" }
`,
  });
  const name = new URL(database.url).pathname.slice(1);
  role = `${name}_reader`;
  await opened.ledger.pool.query(`
    CREATE ROLE ${role};
    GRANT ${role} TO CURRENT_USER WITH SET TRUE;
    REVOKE TEMPORARY ON DATABASE ${name} FROM PUBLIC;
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role};
  `);
  const [channel, address, subAccount] = ['sms', '+61412000002', ''] as const;
  await addSuppressions(opened.ledger.pool, [
    { channel, address, subAccount, reason: 'asked', source: 'operator', createdAt: new Date() },
  ]);
});
afterAll(async () => {
  await opened.ledger.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  await opened.close();
  await workspace[Symbol.asyncDispose]();
});

const prepare = (): Promise<PreparedCampaign> => prepareCampaign('campaign.yaml', settingsIn(workspace));

async function previewAsReader() {
  const url = new URL(database.url);
  url.searchParams.set('options', `-c role=${role}`);
  const ledger = await openLedger({ connectionString: url.href }, 'test database', { access: 'read' });
  try {
    return await previewCampaign(await prepare(), { ledger, now: () => new Date() });
  } finally {
    await ledger.close();
  }
}

test('a plan of a role without temporary tables is refused, and says what to grant', async () => {
  expect(await problemsRejected(previewAsReader)).toEqual([
    expect.stringMatching(/^DATABASE_URL: The role may not create temporary tables.* GRANT TEMPORARY ON/),
  ]);
});

test('a plan needs no other rights than to read and to make temporary tables', async () => {
  const name = new URL(database.url).pathname.slice(1);
  await opened.ledger.pool.query(`GRANT TEMPORARY ON DATABASE ${name} TO ${role}`);
  expect(await previewAsReader()).toMatchObject({
    ledger: 'read',
    contacts: { read: 4, invalid: 0, duplicate: 1, suppressed: 2 },
    recipients: 1,
  });
});

test('a plan leaves no temporary table behind', async () => {
  await previewCampaign(await prepare(), opened.context);
  const listTables = async (): Promise<unknown[]> => {
    const sql = "SELECT relname FROM pg_class WHERE relpersistence = 't' AND relkind = 'r'";
    return (await opened.ledger.pool.query(sql)).rows;
  };
  // Postgres drops them after it has ended the session.
  await expect.poll(listTables).toEqual([]);
});

test('a database without a ledger is enough for a plan, which knows only the suppression lists of the campaign', async () => {
  const bare = await createBareDatabase();
  const scratch = new pg.Pool({ connectionString: bare.url });
  try {
    expect(await previewCampaign(await prepare(), { scratch, now: () => new Date() })).toMatchObject({
      ledger: 'not read',
      contacts: { read: 4, invalid: 0, duplicate: 1, suppressed: 1 },
      recipients: 2,
      repeats: null,
    });
  } finally {
    await scratch.end();
    await bare.drop();
  }
});
