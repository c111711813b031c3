import { randomUUID } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { checkPartitions } from '../../../src/engine/doctor/work.ts';
import { dequeueReports } from '../../../src/ledger/delivery-reports/dequeue.ts';
import { foldInboxBlocks, readFoldFence } from '../../../src/ledger/delivery-reports/fold-inbox.ts';
import {
  dropOldPartitions,
  hasNextPartition,
  listOldPartitions,
  tendPartitions,
} from '../../../src/ledger/delivery-reports/partitions.ts';
import { receiveDeliveryReports } from '../../../src/ledger/delivery-reports/receive.ts';
import { readSchemaState } from '../../../src/ledger/fingerprint.ts';
import { waitForEarlierWriters } from '../../../src/ledger/purge/earlier-writers.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
const query = async (sql: string, values: unknown[] = []) =>
  (await opened.ledger.pool.query(sql, values)).rows;

const monday = new Date('2026-03-02T12:00:00Z');
const daysLater = (days: number) => new Date(monday.getTime() + days * 86_400_000);

/** One commit. */
const receive = (bodies: readonly (string | Buffer)[], receivedAt = monday) =>
  receiveDeliveryReports(
    opened.ledger.hot,
    randomUUID(),
    bodies.map((body, index) => ({
      account: index % 2 === 0 ? 'main' : 'other',
      receivedAt,
      method: 'POST',
      contentType: 'application/json',
      headers: { 'x-number': String(index) },
      body: Buffer.from(body),
    })),
  );

/** @returns how many blocks there are less */
const foldNow = async (now: Date) => {
  const { pool } = opened.ledger;
  const fence = await readFoldFence(pool);
  // Those of other databases, too.
  await waitForEarlierWriters(pool);
  return foldInboxBlocks(pool, now, fence);
};

const numbered = (length: number) => Array.from({ length }, (_, index) => `{"Number":${index}}`);
const applied = () => query('DELETE FROM inbox_waiting');
const partitions = async () =>
  (await query('SELECT name FROM inbox_partitions ORDER BY first_report')).map(({ name }) => name);

afterEach(() => query('DELETE FROM inbox; DELETE FROM inbox_blocks; DELETE FROM inbox_waiting'));

test('the calls of a commit are one row, and psql reads each with its bytes as they came', async () => {
  const anyBytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
  await receive([anyBytes, '', 'é', 'x'.repeat(5_000)]);
  expect(await query('SELECT calls, bytes FROM inbox_blocks')).toEqual([{ calls: 4, bytes: 5_258 }]);
  const calls = await query('SELECT * FROM inbox_calls ORDER BY report_id');
  expect(calls.map(({ body }) => body)).toEqual(
    [anyBytes, '', 'é', 'x'.repeat(5_000)].map((body) => Buffer.from(body)),
  );
  expect(calls.map(({ account, method, headers }) => ({ account, method, headers }))).toEqual(
    [0, 1, 2, 3].map((index) => ({
      account: index % 2 === 0 ? 'main' : 'other',
      method: 'POST',
      headers: { 'x-number': String(index) },
    })),
  );
  const third = calls[2]?.report_id;
  expect(await query('SELECT body FROM calls_of(ARRAY[$1::bigint])', [third])).toEqual([
    { body: Buffer.from('é') },
  ]);
});

test('a commit of more than 256 calls or a mebibyte has more rows, and ids rise from call to call and commit to commit', async () => {
  await receive(numbered(600));
  await receive(['x'.repeat(800_000), 'x'.repeat(800_000), 'x']);
  expect(
    (await query('SELECT calls FROM inbox_blocks ORDER BY first_report')).map(({ calls }) => calls),
  ).toEqual([256, 256, 88, 1, 2]);
  const bodies = await query('SELECT body FROM inbox_calls ORDER BY report_id LIMIT 600');
  expect(bodies.map(({ body }) => String(body))).toEqual(numbered(600));
});

test('an erased call leaves its row, and the others keep their ids and their bytes', async () => {
  await receive(numbered(5));
  await receive(['only']);
  const before = await query('SELECT * FROM inbox_calls ORDER BY report_id');
  const ids = before.map(({ report_id }) => report_id);
  const erase = (...places: number[]) =>
    query('SELECT erase_calls($1::bigint[])::integer AS erased', [
      [...places.map((place) => ids[place]), null],
    ]);
  expect(await erase(0, 3)).toEqual([{ erased: 2 }]);
  expect(await erase(3, 5)).toEqual([{ erased: 1 }]);
  const left = [1, 2, 4];
  expect(await query('SELECT * FROM inbox_calls ORDER BY report_id')).toEqual(
    left.map((place) => before[place]),
  );
  expect(await query('SELECT calls, bytes FROM inbox_blocks')).toEqual([{ calls: 3, bytes: 36 }]);
  const found = await query(
    'SELECT has_call(id) AS found FROM unnest($1::bigint[]) WITH ORDINALITY AS i (id, place) ORDER BY place',
    [ids],
  );
  expect(found.map(({ found }) => found)).toEqual([false, true, true, false, true, false]);
  expect(await erase(1, 2, 4)).toEqual([{ erased: 3 }]);
  expect(await query('SELECT FROM inbox_blocks')).toEqual([]);
});

test('a new week begins a partition that was there before, and the one after it is made', async () => {
  await tendPartitions(opened.ledger.pool, monday);
  await receive(['first'], monday);
  await tendPartitions(opened.ledger.pool, daysLater(6));
  await receive(['second'], daysLater(6));
  const before = await partitions();
  await tendPartitions(opened.ledger.pool, daysLater(7));
  await tendPartitions(opened.ledger.pool, daysLater(8));
  await receive(['third'], daysLater(8));
  expect((await partitions()).length).toBe(before.length + 1);
  const stored = await query(`
    SELECT convert_from(body, 'UTF8') AS body, report_id >> 36 = (SELECT last_value >> 36 FROM report_ids) AS is_present
    FROM inbox_calls ORDER BY report_id
  `);
  expect(stored).toEqual([
    { body: 'first', is_present: false },
    { body: 'second', is_present: false },
    { body: 'third', is_present: true },
  ]);
  expect((await readSchemaState(opened.ledger.pool)).kind).toBe('fits');
});

test('old calls that get new ids begin no other partition in the same week', async () => {
  const before = await partitions();
  await receive(['forwarded'], daysLater(-30));
  await receive(['ahead'], daysLater(40));
  for (let minutes = 0; minutes < 3; minutes++) await tendPartitions(opened.ledger.pool, daysLater(8));
  expect(await partitions()).toEqual(before);
});

test('a clock that is a week ahead begins one partition, and the others none until then', async () => {
  const before = await partitions();
  for (const days of [15, 8, 15, 9, 15]) await tendPartitions(opened.ledger.pool, daysLater(days));
  expect((await partitions()).length).toBe(before.length + 1);
});

test('doctor says when the next partition is missing, and a call is received without it', async () => {
  expect(checkPartitions(await hasNextPartition(opened.ledger.pool)).state).toBe('ok');
  const next = (await partitions()).at(-1);
  await query(`DROP TABLE ${next}`);
  expect(checkPartitions(await hasNextPartition(opened.ledger.pool)).state).toBe('warning');
  await receive(['call'], daysLater(30));
  // It is not entered before it is committed.
  await tendPartitions(opened.ledger.pool, daysLater(60));
  expect((await partitions()).at(-1)).toBe(next);
  await receive(['another'], daysLater(60));
  expect(await query('SELECT FROM inbox_calls')).toHaveLength(2);
});

test('retention drops the partitions whose calls are all older, and keeps one of which calls wait', async () => {
  await receive(numbered(3), daysLater(100));
  await tendPartitions(opened.ledger.pool, daysLater(107));
  await receive(numbered(2), daysLater(107));
  await tendPartitions(opened.ledger.pool, daysLater(114));
  await receive(numbered(1), daysLater(114));
  const { pool } = opened.ledger;
  const old = async (before: Date) =>
    (await listOldPartitions(pool, before)).filter(({ calls }) => calls > 0);
  expect(await old(daysLater(107))).toMatchObject([{ calls: 3, held: 'waiting' }]);
  expect((await dropOldPartitions(pool, daysLater(200))).filter(({ calls }) => calls > 0)).toMatchObject([
    { calls: 3, held: 'waiting' },
    { calls: 2, held: 'waiting' },
  ]);
  await applied();
  expect(await old(daysLater(107))).toMatchObject([{ calls: 3, held: null }]);
  expect(await old(daysLater(200))).toMatchObject([
    { calls: 3, held: null },
    { calls: 2, held: null },
  ]);
  await dropOldPartitions(pool, daysLater(200));
  // The partition of the present week stays, however old its calls are.
  expect(await query('SELECT FROM inbox_calls')).toHaveLength(1);
});

test('a partition with a young call stays, also when an old call came after it', async () => {
  await receive(numbered(4), daysLater(150));
  await receive(['forwarded'], daysLater(-30));
  await tendPartitions(opened.ledger.pool, daysLater(157));
  await applied();
  await dropOldPartitions(opened.ledger.pool, daysLater(100));
  expect(await query('SELECT FROM inbox_calls')).toHaveLength(5);
});

test('a partition that another session reads stays, and commits do not wait for it for long', async () => {
  await receive(numbered(3), daysLater(200));
  await tendPartitions(opened.ledger.pool, daysLater(207));
  await receive(numbered(3), daysLater(207));
  await applied();
  const reader = await opened.ledger.pool.connect();
  await reader.query('BEGIN; SELECT count(*) FROM inbox_calls');
  const dropping = dropOldPartitions(opened.ledger.pool, daysLater(300), 2);
  for (let commits = 0; commits < 10; commits++) await receive(['call'], daysLater(207));
  expect((await dropping).filter(({ calls }) => calls === 3)).toMatchObject([{ held: 'in_use' }]);
  await reader.query('COMMIT');
  reader.release();
  await applied();
  expect(
    (await dropOldPartitions(opened.ledger.pool, daysLater(300))).filter(({ calls }) => calls === 3),
  ).toMatchObject([{ held: null }]);
});

test('blocks of few calls are folded into one, and their calls keep their ids, their bytes and their place in the queue', async () => {
  const { pool } = opened.ledger;
  const at = daysLater(300);
  const later = (minutes: number) => new Date(at.getTime() + minutes * 60_000);
  for (let index = 0; index < 150; index++) await receive([`call ${index}`], at);
  await receive(numbered(200), at);
  for (let index = 0; index < 20; index++) await receive(numbered(7), later(1));
  await receive(['last'], later(45));
  const before = await query('SELECT * FROM inbox_calls ORDER BY report_id');
  const sizes = async () =>
    (await query('SELECT calls FROM inbox_blocks ORDER BY first_report')).map(({ calls }) => calls);
  expect(await foldNow(later(9))).toBe(0);
  expect(await foldNow(later(30))).toBe(149 + 19);
  expect(await sizes()).toEqual([150, 200, 140, 1]);
  expect(await query('SELECT * FROM inbox_calls ORDER BY report_id')).toEqual(before);
  const ids = before.map(({ report_id }) => report_id);
  expect(await query('SELECT FROM calls_of($1::bigint[])', [ids])).toHaveLength(491);
  expect(await query('SELECT FROM unnest($1::bigint[]) AS id WHERE NOT has_call(id)', [ids])).toEqual([]);
  const dequeued = await inTransaction(pool, (client) => dequeueReports(client, 1_000, later(60)));
  expect(dequeued.map(({ report }) => report)).toEqual(ids.slice(0, dequeued.length));
  expect(dequeued.map(({ body }) => body)).toEqual(before.slice(0, dequeued.length).map(({ body }) => body));
});

test('blocks are not folded together until they fill one, or are an hour old', async () => {
  const at = daysLater(400);
  const later = (minutes: number) => new Date(at.getTime() + minutes * 60_000);
  for (let index = 0; index < 5; index++) await receive(['call'], later(index));
  expect(await foldNow(later(30))).toBe(0);
  expect(await foldNow(later(55))).toBe(4);
  expect(await foldNow(later(56))).toBe(0);
});

test('a call that is read while its block is folded is found in the other', async () => {
  const { pool } = opened.ledger;
  const at = daysLater(500);
  for (let index = 0; index < 120; index++) await receive([`call ${index}`], at);
  const fence = await readFoldFence(pool);
  await waitForEarlierWriters(pool);
  const dequeued = await inTransaction(pool, async (client) => {
    const query = client.query.bind(client) as (...words: unknown[]) => Promise<unknown>;
    let statements = 0;
    const between = Object.assign(Object.create(client), {
      query: async (...words: unknown[]) => {
        if (statements++ === 1) await foldInboxBlocks(pool, new Date(at.getTime() + 20 * 60_000), fence);
        return query(...words);
      },
    });
    return dequeueReports(between, 1_000, at);
  });
  expect(await query('SELECT calls FROM inbox_blocks')).toEqual([{ calls: 120 }]);
  expect(dequeued.length).toBeGreaterThan(40);
});

test('blocks are not folded while a transaction may still commit one of them', async () => {
  const { pool } = opened.ledger;
  const at = daysLater(600);
  const evening = new Date(at.getTime() + 20 * 60_000);
  const slow = await pool.connect();
  await slow.query('BEGIN');
  await slow.query(`INSERT INTO inbox_batches (batch, received_at) VALUES (gen_random_uuid(), now())`);
  for (let index = 0; index < 120; index++) await receive(['call'], at);
  const fence = await readFoldFence(pool);
  expect(await foldInboxBlocks(pool, evening, fence)).toBe(0);
  await slow.query('ROLLBACK');
  slow.release();
  await waitForEarlierWriters(pool);
  expect(await foldInboxBlocks(pool, evening, fence)).toBe(119);
});
