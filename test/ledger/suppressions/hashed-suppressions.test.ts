import { beforeEach, describe, expect, test } from 'vitest';
import type { Suppression } from '../../../src/domain/suppressions.ts';
import { expandRun } from '../../../src/ledger/planning/expand.ts';
import { stageContacts } from '../../../src/ledger/planning/stage-contacts.ts';
import { hashSuppressions } from '../../../src/ledger/purge/hash-suppressions.ts';
import { inSession } from '../../../src/ledger/session.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { createHashKey, hashedAddress } from '../../../src/ledger/suppressions/hash.ts';
import { listSuppressions } from '../../../src/ledger/suppressions/list.ts';
import { removeSuppressions } from '../../../src/ledger/suppressions/remove.ts';
import { deleteRuns } from '../../support/empty-ledger.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { addressesOf } from '../../support/outgoing.ts';
import { hashKey, longAgo } from '../../support/purges.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { claimRequests } from '../../support/requests.ts';
import { inOrder } from '../../support/sheets.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const opened = testLedger();
beforeEach(async () => {
  await deleteRuns(opened.ledger.pool);
  await opened.ledger.pool.query(
    'DELETE FROM suppressions; DELETE FROM hashed_suppressions; DELETE FROM hash_key',
  );
});

const owner = '00000000-0000-4000-8000-000000000001';
const otherKey = createHashKey(Buffer.from('another key, of 32 characters too'));
const before = new Date('2025-02-01T00:00:00Z');

function addressOf(line: number): string {
  const contact = aContact(line);
  if (contact.kind !== 'contact') throw new Error('it is a contact');
  return contact.address;
}

async function suppress(lines: readonly number[], changes: Partial<Suppression> = {}): Promise<void> {
  const common = {
    channel: 'sms',
    subAccount: '',
    reason: 'asked',
    source: 'operator',
    createdAt: longAgo,
  } as const;
  await addSuppressions(
    opened.ledger.pool,
    lines.map((line): Suppression => ({ ...common, address: addressOf(line), ...changes })),
  );
}

const hash = () => hashSuppressions(opened.ledger.pool, hashKey, before);

/** Requests with two recipients each, and the lines that each claim returns. */
async function claimAll(run: string, key: typeof hashKey | null = hashKey): Promise<string[][]> {
  const { pool } = opened.ledger;
  await pool.query(`UPDATE runs SET state = 'running' WHERE run_id = $1`, [run]);
  await pool.query(
    `UPDATE slices SET state = 'held', job = gen_random_uuid(), worker = $2, owner = $2 WHERE run_id = $1`,
    [run, owner],
  );
  const slice = { run, slice: 1, owner, first: 1, from: 1, last: 3, limit: 100 };
  const [claim] = await claimRequests(pool, [slice], { now: new Date(), key });
  return (claim?.claimed ?? []).map(({ destinations }) => addressesOf(destinations));
}

const contacts = (subAccount?: string) =>
  Array.from({ length: 6 }, (_, index) =>
    aContact(index + 1, {
      envelope: anEnvelope({ Message: 'Hello', ...(subAccount ? { SubAccount: subAccount } : {}) }),
    }),
  );

async function importAll(key: typeof hashKey | null, subAccount?: string): Promise<string> {
  const run = aRun();
  await inSession(opened.ledger.pool, async (client) => {
    await stageContacts(client, {
      contacts: inOrder([contacts(subAccount)]),
      linesBefore: () => 0,
      keyed: false,
      partsOf: () => null,
      tariffOf: null,
      takePieces: async () => [],
    });
    await expandRun(client, run, key);
  });
  return run.run;
}

const rejectedLines = async (run: string) =>
  (await rejectedContactsOf(opened.ledger.pool, run)).map(({ line, detail }) => `${line}: ${detail}`);

test('a hashed suppression of one account applies to no other, like a plain one', async () => {
  await suppress([1], { account: 'other' });
  await suppress([2], { account: 'sandbox' });
  await suppress([3], { account: 'other', createdAt: new Date() });
  expect(await hash()).toBe(2);
  const run = await importAll(hashKey);
  expect(await rejectedLines(run)).toEqual([expect.stringMatching(/^2: suppressed for sms/)]);
  await suppress([4], { account: 'other' });
  await hash();
  expect((await claimAll(run)).flat()).toEqual([1, 3, 4, 5, 6].map(addressOf));
});

test('a purge turns old suppressions into standard HMAC-SHA-256 hashes and erases their reasons', async () => {
  await suppress([1], { reason: 'replied "no, Ann"', subAccount: 'North' });
  await suppress([2], { createdAt: before });
  expect(await hash()).toBe(1);
  const { rows } = await opened.ledger.pool.query('SELECT * FROM hashed_suppressions');
  expect(rows).toEqual([
    {
      channel: 'sms',
      account: '',
      sub_account: 'North',
      source: 'operator',
      created_at: longAgo,
      hash: hashKey.hash('sms', addressOf(1)),
    },
  ]);
  const { rows: plain } = await opened.ledger.pool.query('SELECT address FROM suppressions');
  expect(plain).toEqual([{ address: addressOf(2) }]);
});

test.each([32, 64, 65, 200])('Postgres hashes with a key of %i bytes as HMAC does', async (length) => {
  const key = createHashKey(Buffer.alloc(length, 'k'));
  const address = 'jörg@exämple.org';
  const { rows } = await opened.ledger.pool.query(
    `SELECT ${hashedAddress("'email'", '$3::text', '$1', '$2')} AS hash`,
    [key.inner, key.outer, address],
  );
  expect(rows[0].hash.toString('hex')).toBe(key.hash('email', address).toString('hex'));
});

describe('a hashed suppression', () => {
  test('a recipient with a hashed suppression is rejected at import, with a reason, for its SubAccount only', async () => {
    await suppress([2]);
    await suppress([3], { subAccount: 'North' });
    await hash();
    const why = 'suppressed for sms, known only by its hash';
    expect(await rejectedLines(await importAll(hashKey))).toEqual([`2: ${why}`]);
    expect(await rejectedLines(await importAll(hashKey, 'North'))).toEqual([
      `2: ${why}`,
      '3: suppressed for sms of SubAccount North, known only by its hash',
    ]);
  });

  test('a recipient with a hashed suppression is excluded when its request is claimed', async () => {
    const run = await planContacts(opened.ledger, aRun(), contacts('North'));
    await suppress([1]);
    await suppress([4], { subAccount: 'North' });
    await suppress([5], { subAccount: 'South' });
    await hash();
    expect(await claimAll(run)).toEqual([[addressOf(2)], [addressOf(3)], [addressOf(5), addressOf(6)]]);
  });

  test('a recipient with a hashed suppression in another channel is sent to', async () => {
    await suppress([1], { channel: 'fax' });
    await hash();
    expect(await rejectedLines(await importAll(hashKey))).toEqual([]);
  });
});

describe.each([
  ['no key', null],
  ['another key', otherKey],
])('hashed suppressions with %s', (_, key) => {
  test('without the right key nothing is claimed and nothing is lost', async () => {
    const run = await planContacts(opened.ledger, aRun(), contacts());
    await suppress([1]);
    await hash();
    expect(await problemsRejected(() => claimAll(run, key))).toHaveLength(1);
    const { rows } = await opened.ledger.pool.query('SELECT DISTINCT state FROM request_states');
    expect(rows).toEqual([{ state: 'planned' }]);
    expect((await claimAll(run)).flat()).toHaveLength(5);
  });

  test('without the right key no run is planned', async () => {
    await suppress([1]);
    await hash();
    expect(await problemsRejected(() => importAll(key))).toHaveLength(1);
    expect((await opened.ledger.pool.query('SELECT FROM runs')).rows).toEqual([]);
  });
});

test('a purge refuses to hash with a second key', async () => {
  await suppress([1]);
  await hash();
  await suppress([2]);
  expect(await problemsRejected(() => hashSuppressions(opened.ledger.pool, otherKey, before))).toHaveLength(
    1,
  );
  expect((await opened.ledger.pool.query('SELECT FROM suppressions')).rows).toHaveLength(1);
});

test('a hashed suppression is listed by its hash, and found and removed by its address', async () => {
  const { pool } = opened.ledger;
  await suppress([1, 2]);
  await hash();
  await suppress([3]);
  const listed: string[] = [];
  const see = (page: readonly Suppression[]) => listed.push(...page.map(({ address }) => address));
  await listSuppressions(pool, {}, { onPage: see, hashKey });
  expect(listed.filter((address) => address.startsWith('hash '))).toHaveLength(2);
  expect(listed).toContain(addressOf(3));
  listed.length = 0;
  await listSuppressions(pool, { address: addressOf(2) }, { onPage: see, hashKey });
  expect(listed).toEqual([addressOf(2)]);
  const key = { channel: 'sms', address: addressOf(2), account: '', subAccount: '' } as const;
  expect(await removeSuppressions(pool, [key], new Date(), hashKey)).toEqual([key]);
  expect(await rejectedLines(await importAll(hashKey))).toEqual([
    '1: suppressed for sms, known only by its hash',
    '3: suppressed for sms: asked',
  ]);
});
