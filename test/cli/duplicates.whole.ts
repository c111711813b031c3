import { beforeEach, describe, expect, test } from 'vitest';
import { eraseRun } from '../../src/ledger/purge/erase-run.ts';
import { emptyLedger } from '../support/empty-ledger.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import type { Ended } from '../support/volley.ts';

const scene = useSandboxScene();

/** One mailbox with two accounts; the fourth row equals the first. */
const contacts = `email,name,account
ann@example.org,Ann,1
bob@example.org,Bob,2
Ann@example.org,Ann,3
ann@example.org,Ann,1
cid@example.org,Cid,3
`;

const campaign = `campaign: statements
account: sandbox
channel: email
contacts: { file: contacts.csv }
message: { EmailSubject: Statement, FromEmail: a@example.org, MessagePlain: "Account [[account]] of [[name]]" }
dispatch: { retries: 0 }
`;

beforeEach(async () => {
  await emptyLedger(scene.ledger.pool);
  await scene.write('contacts.csv', contacts);
});

async function call(words: string, keys = '', message = 'Account [[account]] of [[name]]'): Promise<Ended> {
  const yaml = campaign
    .replace('contacts.csv }', `contacts.csv${keys} }`)
    .replace('Account [[account]] of [[name]]', message);
  await scene.write('campaign.yaml', yaml);
  return scene.command(words.split(' '));
}

async function sent(): Promise<string[]> {
  const journal = await scene.journal();
  return journal.map(({ recipients }) => recipients.join(' ')).toSorted();
}

/** Plans and runs; both must have equal counts. */
async function run(keys: string, message?: string): Promise<{ run: string; contacts: unknown }> {
  const plan = JSON.parse((await call('plan campaign.yaml --json', keys, message)).stdout);
  const { code, stdout } = await call('run campaign.yaml --json', keys, message);
  const summary = JSON.parse(stdout);
  expect(code).toBe(0);
  expect([plan.contacts, plan.requests, plan.recipients]).toEqual([
    summary.contacts,
    summary.requests.total,
    summary.recipients.total,
  ]);
  return summary;
}

const duplicates = (count: number) => ({
  contacts: { read: 5, invalid: 0, duplicate: count, suppressed: 0 },
});

describe('rows with the same address', () => {
  test('rows with the same address are merged by default, with a warning if their messages differ', async () => {
    const words =
      '1 skipped duplicate row would get another message, other files or another billing than the row that stays: line 4 (same address as line 2, but its message differs). Set "contacts.key" to the columns that tell them apart, or "contacts.duplicates: allow".';
    const planned = await call('plan campaign.yaml');
    expect(planned.stdout).toContain(`  duplicates  ${words}`);
    expect(planned.stdout).toContain('5 read: 3 to send to, 0 invalid, 2 duplicate');
    const ran = await call('run campaign.yaml');
    expect(ran.stderr).toContain(`  duplicates ${words}`);
    expect(await sent()).toEqual(['ann@example.org', 'bob@example.org', 'cid@example.org']);
  });

  test('rows with the same address and the same message are merged without a warning', async () => {
    const planned = await call('plan campaign.yaml', '', 'Hello');
    expect(planned.stdout).toContain('2 duplicate');
    expect(planned.stdout).not.toContain('  duplicates ');
  });

  test('with duplicates: allow, all rows are sent to, in different requests even if they share a message', async () => {
    expect(await run(', duplicates: allow', 'Hello')).toMatchObject(duplicates(0));
    expect(await sent()).toEqual([
      'Ann@example.org',
      'ann@example.org',
      'ann@example.org bob@example.org cid@example.org',
    ]);
  });

  test('with duplicates: refuse, the run is refused with the lines of the rows', async () => {
    for (const word of ['plan', 'run'])
      expect(await call(`${word} campaign.yaml`, ', duplicates: refuse')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining(
          '2 rows repeat an earlier one, and "contacts.duplicates" is refuse, so Volley makes no run: line 4 (same address as line 2, but its message differs); line 5 (same address as line 2).',
        ),
      });
  });
});

describe('contacts.key', () => {
  test('contacts.key tells rows apart by a column, so that each account gets its statement', async () => {
    expect(await run(', key: account')).toMatchObject(duplicates(2));
    expect(await sent()).toEqual(['Ann@example.org', 'ann@example.org', 'bob@example.org']);
    const { stdout } = await call('plan campaign.yaml', ', key: account');
    expect(stdout).toContain('line 6 (same "account" as line 4, but its message differs)');
  });

  test('contacts.key can name several columns, and compares the recipient as it is sent to', async () => {
    const { run: planned, ...summary } = await run(', key: [email, account]');
    expect(summary).toMatchObject(duplicates(1));
    expect(await sent()).toEqual([
      'Ann@example.org',
      'ann@example.org',
      'bob@example.org',
      'cid@example.org',
    ]);
    // A digest of a few columns could be guessed.
    const keys = async () => (await scene.ledger.pool.query('SELECT FROM recipient_keys')).rowCount;
    expect(await keys()).toBe(4);
    await eraseRun(scene.ledger.pool, planned);
    expect(await keys()).toBe(0);
  });

  test('contacts.key rejects a row with an empty key, and refuses a column that the files do not have', async () => {
    await scene.write('contacts.csv', `${contacts}dan@example.org,Dan,\n`);
    const { stdout } = await call('plan campaign.yaml', ', key: account');
    expect(stdout).toMatch(/account +.*is empty, but "contacts\.key" identifies rows by it/);
    expect(await call('plan campaign.yaml', ', key: acount')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no column "acount". Did you mean "account"?'),
    });
  });
});

describe('fixed contacts with a key', () => {
  const broken = contacts.replace('Ann@example.org,Ann,3', 'ann@example,Ann,3').replace('cid@', 'cid');

  test.each([
    [', key: [email, account]', 1],
    [', duplicates: allow', 0],
  ])(
    'fixed contacts are compared by their key (%s), so a second account of a mailbox is reached once',
    async (keys, merged) => {
      await scene.write('contacts.csv', broken);
      const first = await run(keys);
      expect(first).toMatchObject({ contacts: { invalid: 2, duplicate: merged } });
      const { stdout } = await call(`report contacts ${first.run} --state invalid,suppressed`, keys);
      const fixed = stdout.replace('ann@example,', 'Ann@example.org,').replace('cidexample', 'cid@example');
      await scene.write('contacts.csv', fixed);
      const before = await sent();
      // The text is fixed too.
      expect(await run(keys, 'Account [[account]], [[name]]')).toMatchObject({
        contacts: { read: 2, duplicate: 0 },
      });
      expect((await sent()).filter((each) => !before.includes(each))).toEqual([
        'Ann@example.org',
        'cid@example.org',
      ]);
      expect((await call('run campaign.yaml', keys)).stderr).toContain('2 of 2 rows are duplicate');
    },
  );
});

test('a rerun keeps recipients with equal addresses in different requests', async () => {
  const { run: first } = await run(', duplicates: allow', 'Hello');
  await createRequestRows(scene.ledger.pool, first);
  await scene.ledger.pool.query(`UPDATE requests SET state = 'failed' WHERE run_id = $1`, [first]);
  const { code, stdout } = await call(`rerun ${first} --state failed --json`);
  expect([code, JSON.parse(stdout).recipients]).toMatchObject([0, { total: 5, accepted: 5 }]);
  expect(await sent()).toHaveLength(6);
});
