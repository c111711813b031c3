import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { listRunsBeginning } from '../../src/ledger/runs/find.ts';
import { aContact, aRun, openTestLedger, planContacts } from '../support/ledger.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { type Ended, volleyInProcess } from '../support/volley.ts';
import { accountsYaml, contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const scene = useLedgerScene(
  { 'accounts.yaml': accountsYaml, 'contacts.csv': contactsCsv(3), 'campaign.yaml': smsCampaignYaml },
  { VOLLEY_ACCOUNTS: 'accounts.yaml', VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9', VOLLEY_SANDBOX_TOKEN: 'any' },
);
beforeAll(async () => {
  for (const [index, [run, campaign]] of runs.entries()) {
    const createdAt = new Date(Date.UTC(2026, 10, 22, 8, index));
    await planContacts(scene.opened.ledger, aRun({ run, campaign, createdAt }), [aContact(1)]);
  }
});

/** From the oldest to the newest. `261120-9q2` is a whole id and the beginning of another. */
const runs = [
  ['261120-9q2xx', 'welcome'],
  ['261120-9q2', 'welcome'],
  ['261121-c5f6x', 'welcome'],
  ['261122-7k2mq', 'test'],
  ['261122-aaaaa', 'welcome'],
] as const;

const command = (...words: string[]): Promise<Ended> => scene.command(words);

const statusOf = async (...words: string[]) => {
  const { stdout, stderr } = await command('status', '--json', ...words);
  return [JSON.parse(stdout).run, stderr.trim()];
};

test('a run is named by its id, by the beginning of one, or as latest, and the command prints which run that is', async () => {
  expect(await statusOf('261121-c5f6x')).toEqual(['261121-c5f6x', '']);
  expect(await statusOf('261121')).toEqual(['261121-c5f6x', 'run      261121-c5f6x (welcome, planned)']);
  expect(await statusOf('latest')).toEqual(['261122-aaaaa', 'run      261122-aaaaa (welcome, planned)']);
  expect(await statusOf()).toEqual(await statusOf('latest'));
});

test('a whole id is not ambiguous, even if another id begins with it', async () => {
  expect(await statusOf('261120-9q2')).toEqual(['261120-9q2', '']);
});

test('an ambiguous beginning ends with exit code 2, and lists the runs with campaign, state and time', async () => {
  const { code, stdout, stderr } = await command('cancel', '261122');
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr.trim().split('\n')).toEqual([
    'run 261122: 2 runs begin so; use more characters of one of them.',
    'run 261122-aaaaa: campaign welcome, planned, planned 2026-11-22 08:04:00 UTC',
    'run 261122-7k2mq: campaign test, planned, planned 2026-11-22 08:03:00 UTC',
  ]);
});

test('fewer than four characters of an id, or of no run, end with exit code 2', async () => {
  for (const [name, problem] of [
    ['261', 'needs at least 4 characters'],
    ['271122', 'There is no such run'],
    ['261120-9q2xxx', 'There is no such run'],
    ['%', 'There is no such run'],
    ['', '<run> is empty'],
  ] as const) {
    const { code, stderr } = await command('status', name);
    expect([name, code, stderr]).toEqual([name, 2, expect.stringContaining(problem)]);
  }
});

const naming: readonly (readonly string[])[] = [
  ['approve', '261121'],
  ['pause', '261121'],
  ['resume', '261121'],
  ['resolve', '261121'],
  ['resolve', '261121', '--abandon', '--reason', 'a test'],
  ['report', 'run', '261121'],
  ['report', 'contacts', '261121'],
  ['report', 'failures', '261121'],
  ['delivery-reports', 'list', '261121'],
  ['delivery-reports', 'missing', '261121'],
  ['delivery-reports', 'poll', '261121'],
  ['audit', '261121'],
  ['rerun', '261121', '--state', 'failed'],
  ['plan', 'campaign.yaml', '--of', '261121'],
  ['run', 'campaign.yaml', '--of', '261121'],
  ['cancel', '261121'],
];

test.each(naming)('volley %s %s %s %s takes the beginning of a run id', async (...words) => {
  const { stderr } = await command(...words);
  expect(stderr).toMatch(/^ {2}run {6}261121-c5f6x \(welcome, (planned|paused)\)$/m);
  expect(stderr).not.toContain('There is no such run');
});

test('latest for --of is the newest run of the campaign', async () => {
  const { code, stderr } = await command('plan', 'campaign.yaml', '--of', 'latest');
  expect([code, stderr]).toEqual([0, expect.stringContaining('run      261122-7k2mq (test, planned)')]);
});

test('latest in an empty ledger ends with exit code 2 and the next step', async () => {
  const empty = await openTestLedger();
  const { code, stderr } = await volleyInProcess(['status'], { env: { DATABASE_URL: empty.url } });
  await empty.close();
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('There is no run yet. `volley run <campaign>`'),
  ]);
});

test('the runs that begin so are found by an index, in any language of the database', async () => {
  const { pool } = scene.opened.ledger;
  await pool.query(`
    INSERT INTO runs (run_id, campaign, account, channel, definition, message_key, contacts_read, contacts_invalid,
                      contacts_duplicate, contacts_suppressed, created_at)
    SELECT '25' || to_char(day, 'FM0000') || '-' || substr(md5(day::text), 1, 5), 'old', 'sandbox', 'sms', '{}',
           sha256('key'), 0, 0, 0, 0, '2025-01-01'
    FROM generate_series(1, 9999) AS day
  `);
  await pool.query('ANALYZE runs');
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN SELECT run_id FROM runs WHERE run_id ~>=~ '2600' AND run_id ~<~ '2600~'`,
  );
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/runs_by_prefix/);
  expect((await listRunsBeginning(pool, '251234', 3)).map(({ run }) => run)).toEqual([
    expect.stringMatching(/^251234-/),
  ]);
});

test('billing report takes latest and the beginning of a run id, and prints which run that is', async () => {
  for (const name of ['latest', '261122-a']) {
    const { code, stderr } = await command('billing', 'report', '--run', name, '--by', 'run');
    expect([code, stderr]).toEqual([0, expect.stringContaining('run      261122-aaaaa (welcome, planned)')]);
  }
  const unknown = await command('billing', 'report', '--run', '261199');
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('There is no such run')]);
});

test('a campaign is named by its name in the folder campaigns', async () => {
  await mkdir(join(scene.workspace.folder, 'campaigns'), { recursive: true });
  await copyFile(
    join(scene.workspace.folder, 'campaign.yaml'),
    join(scene.workspace.folder, 'campaigns/first.yaml'),
  );
  await copyFile(
    join(scene.workspace.folder, 'contacts.csv'),
    join(scene.workspace.folder, 'campaigns/contacts.csv'),
  );
  for (const name of ['first', 'first.yaml']) {
    const { code, stdout } = await command('plan', '--check', name);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('campaigns/first.yaml: campaign test is valid'),
    ]);
  }
  expect((await command('plan', 'first')).code).toBe(0);
  const missing = await command('run', 'second');
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('campaigns/second.yaml')]);
});

test.each(['plan', 'run'])('volley %s says of a contact file that it is no campaign', async (name) => {
  const { code, stderr } = await command(name, 'contacts.csv');
  expect([code, stderr]).toEqual([
    2,
    'contacts.csv: This is the name of a contact file, and a campaign is expected (YAML). To send a campaign to these contacts, add --contacts contacts.csv to it.\n',
  ]);
});
