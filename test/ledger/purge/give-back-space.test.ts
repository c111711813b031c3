import { expect, test } from 'vitest';
import { deleteAll } from '../../../src/ledger/purge/erase-run.ts';
import { giveBackSpace } from '../../../src/ledger/purge/give-back-space.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

/** Bytes of a table without its indexes. */
async function readSize(table: string): Promise<number> {
  const { rows } = await opened.ledger.pool.query<{ size: number }>(
    'SELECT pg_relation_size($1::regclass)::integer AS size',
    [table],
  );
  return rows[0]?.size ?? 0;
}

test('space before the rows of a younger run is given back to the disk, and its rows stay as they were', async () => {
  const { pool } = opened.ledger;
  const old = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  const young = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  for (const run of [old, young]) await addBlocks(run, 900);
  const readYoung = async () => {
    const { rows } = await pool.query(
      'SELECT md5(string_agg(c::text, $2 ORDER BY first_request)) FROM contents c WHERE run_id = $1',
      [young, '\n'],
    );
    return rows;
  };
  await pool.query('DELETE FROM contents WHERE run_id = $1', [old]);
  const [rows, size] = [await readYoung(), await readSize('contents')];
  await giveBackSpace(pool);
  expect(await readSize('contents')).toBeLessThan(size * 0.7);
  expect(await readYoung()).toEqual(rows);
});

test('a snapshot of another session keeps the space, and the table grows by no more than what moved once', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  await addBlocks(run, 900);
  const size = await readSize('contents');
  const reader = await pool.connect();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await reader.query('SELECT FROM runs');
  await pool.query('DELETE FROM contents WHERE first_request < 5000');
  await giveBackSpace(pool);
  expect(await readSize('contents')).toBeLessThan(size * 1.15);
  await reader.query('COMMIT');
  reader.release();
  await giveBackSpace(pool);
  expect(await readSize('contents')).toBeLessThan(size * 0.5);
});

test('space between single large rows is given back, although each stays in its page until that is full', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  await pool.query('TRUNCATE contents');
  await addBlocks(run, 1_200);
  const size = await readSize('contents');
  await pool.query('DELETE FROM contents WHERE run_id = $1 AND first_request % 50 <> 0', [run]);
  await giveBackSpace(pool);
  expect(await readSize('contents')).toBeLessThan(size / 10);
});

/** 5,000 blocks, each of about so many bytes. */
async function addBlocks(run: string, bytes: number): Promise<void> {
  await opened.ledger.pool.query(
    `INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions,
                           lines, addresses)
     SELECT $1, n, n, 1, '{1}', '{1}', '{0}', '{1}', ARRAY[n], ARRAY[repeat('x', $2) || n]
     FROM generate_series(1001, 6000) AS n`,
    [run, bytes],
  );
}

test('rows that another purge moves while they are deleted are deleted too', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(opened.ledger, aRun(), [aContact(2), aContact(3), aContact(4)]);
  const mover = await pool.connect();
  await mover.query('BEGIN');
  await mover.query('UPDATE contents SET run_id = run_id WHERE run_id = $1', [run]);
  const deleting = deleteAll(pool, run, 'contents', { limit: 500 });
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await pool.query(waiting)).rowCount).toBeGreaterThan(0);
  await mover.query('COMMIT');
  mover.release();
  await deleting;
  expect((await pool.query('SELECT FROM contents WHERE run_id = $1', [run])).rows).toEqual([]);
});

test('a locked row keeps only the space of its table, and a table whose name needs quotes gets its space back', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  await pool.query(
    `INSERT INTO rejected_contacts (run_id, line, column_name, reason, message)
     SELECT $1, line, 'mobile', 'invalid', repeat('x', 900) FROM generate_series(1, 20000) AS line`,
    [run],
  );
  await pool.query('DELETE FROM rejected_contacts WHERE line < 12000');
  await pool.query('CREATE TABLE "Odd table" AS SELECT generate_series(1, 100000) AS number');
  await pool.query('DELETE FROM "Odd table"');
  const locker = await pool.connect();
  await locker.query('BEGIN');
  await locker.query('SELECT FROM rejected_contacts WHERE line = 20000 FOR UPDATE');
  await giveBackSpace(pool);
  await locker.query('ROLLBACK');
  locker.release();
  const { rows } = await pool.query(`SELECT pg_relation_size('"Odd table"')::integer AS size`);
  expect(rows).toEqual([{ size: 0 }]);
  await pool.query('DROP TABLE "Odd table"');
});

test('an index is rebuilt when nearly all rows of its table have gone', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  await pool.query(
    'INSERT INTO recipient_keys (run_id, line, key) SELECT $1, n, gen_random_uuid() FROM generate_series(1, 40000) AS n',
    [run],
  );
  const readSize = async () =>
    (await pool.query<{ size: number }>("SELECT pg_indexes_size('recipient_keys')::integer AS size")).rows[0]
      ?.size ?? 0;
  const before = await readSize();
  await pool.query('DELETE FROM recipient_keys');
  await giveBackSpace(pool);
  expect(await readSize()).toBeLessThan(before / 10);
});
