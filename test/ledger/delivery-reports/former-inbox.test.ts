import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { applyInbox, tendInbox } from '../../../src/engine/delivery-reports/apply-inbox.ts';
import { moveFormerCalls } from '../../../src/ledger/delivery-reports/former-inbox.ts';
import { requeueDeliveryReports } from '../../../src/ledger/delivery-reports/queue.ts';
import { receiveDeliveryReports } from '../../../src/ledger/delivery-reports/receive.ts';
import { testLedger } from '../../support/test-ledger.ts';

/** Processes of 0.3.0 go on while others are upgraded. These are their statements, shortened. */

const opened = testLedger();
const query = async (sql: string, values: unknown[] = []) =>
  (await opened.ledger.pool.query(sql, values)).rows;

beforeEach(() =>
  query(`
    DELETE FROM inbox; DELETE FROM inbox_queue; DELETE FROM inbox_blocks; DELETE FROM inbox_waiting;
    DELETE FROM unusual_delivery_reports
  `),
);

const receiveFormer = (bodies: readonly string[]) =>
  query(
    `
    WITH stored AS (
      INSERT INTO inbox (account, received_at, method, content_type, headers, body)
      SELECT 'main', now(), 'POST', 'application/json', '{}', convert_to(body, 'UTF8')
      FROM unnest($1::text[]) WITH ORDINALITY AS b (body, index)
      ORDER BY index
      RETURNING report_id, received_at, octet_length(body) AS bytes
    )
    INSERT INTO inbox_queue (due_at, report_ids, bytes)
    SELECT min(received_at), array_agg(report_id ORDER BY report_id), sum(bytes) FROM stored
    `,
    [bodies],
  );

/** @returns how many */
const dequeueFormer = async () =>
  (
    await query(`
      WITH dequeued AS (DELETE FROM inbox_queue RETURNING report_ids)
      SELECT report_id, body
      FROM (SELECT unnest(report_ids) AS report_id FROM dequeued) reports
      JOIN inbox USING (report_id)
    `)
  ).length;

const receive = (body: string) =>
  receiveDeliveryReports(opened.ledger.hot, randomUUID(), [
    {
      account: 'main',
      receivedAt: new Date(),
      method: 'POST',
      contentType: 'application/json',
      headers: {},
      body: Buffer.from(body),
    },
  ]);

/** A call of an earlier ledger. */
const receiveBefore = (ids: readonly number[]) =>
  query(
    `INSERT INTO inbox (report_id, account, received_at, method, content_type, headers, body)
     SELECT id, 'main', '2026-01-01', 'POST', 'text/plain', '{"a":"b"}', convert_to('call ' || id, 'UTF8')
     FROM unnest($1::bigint[]) AS id`,
    [ids],
  );

const bodies = async () =>
  (await query(`SELECT convert_from(body, 'UTF8') AS body FROM inbox_calls ORDER BY report_id`)).map(
    ({ body }) => body,
  );

test('calls that a process of 0.3.0 receives are applied by this one, and their ids lie between those of others', async () => {
  await receive('1');
  await receiveFormer(['2', '3']);
  await receive('4');
  expect(await bodies()).toEqual(['1', '2', '3', '4']);
  expect(await applyInbox(opened.context)).toBe(4);
  expect(await query('SELECT state FROM delivery_reports')).toHaveLength(4);
  await tendInbox(opened.context);
  expect(await query('SELECT FROM inbox')).toEqual([]);
  expect(await bodies()).toEqual(['1', '2', '3', '4']);
  const ids = (await query('SELECT report_id FROM inbox_calls')).map(({ report_id }) => report_id);
  expect(await query('SELECT FROM calls_of($1::bigint[])', [ids])).toHaveLength(4);
});

test('a process of 0.3.0 applies what it received itself, and finds it until then', async () => {
  await receiveFormer(['1', '2']);
  await moveFormerCalls(opened.ledger.pool);
  expect(await dequeueFormer()).toBe(2);
  await moveFormerCalls(opened.ledger.pool);
  expect(await query('SELECT calls FROM inbox_blocks')).toEqual([{ calls: 1 }, { calls: 1 }]);
});

test('calls that failed under 0.3.0 are read again where they are, before there is any block', async () => {
  await receiveBefore([1, 2]);
  await query(`
    INSERT INTO unusual_delivery_reports (report_id, account, received_at, state)
    SELECT report_id, account, received_at, 'failed' FROM inbox
  `);
  expect(await requeueDeliveryReports(opened.ledger.pool, { all: false }, new Date())).toBe(2);
  expect(await query('SELECT calls, bytes::integer FROM inbox_waiting')).toEqual([{ calls: 2, bytes: 12 }]);
  expect(await applyInbox(opened.context)).toBe(2);
});

test('calls from before there were blocks are moved into them in order, with their ids, also while they wait', async () => {
  const ids = Array.from({ length: 12_000 }, (_, index) => 3 * index + 1);
  await receiveBefore(ids);
  await receive('later');
  const before = await query('SELECT * FROM inbox_calls ORDER BY report_id');
  expect(await requeueDeliveryReports(opened.ledger.pool, { all: true }, new Date())).toBe(12_001);
  expect(await moveFormerCalls(opened.ledger.pool)).toBe(true);
  expect(await query('SELECT * FROM inbox_calls ORDER BY report_id')).toEqual(before);
  while (await moveFormerCalls(opened.ledger.pool));
  expect(await query('SELECT FROM inbox')).toEqual([]);
  expect(await query('SELECT * FROM inbox_calls ORDER BY report_id')).toEqual(before);
  expect((await query('SELECT FROM inbox_blocks')).length).toBeLessThan(55);
  expect(await applyInbox(opened.context)).toBe(12_002);
  expect(await query('SELECT FROM unusual_delivery_reports')).toHaveLength(12_001);
});
