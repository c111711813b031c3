import { expect, test } from 'vitest';
import { readRunAnswers } from '../../../src/ledger/counts/answers.ts';
import { foldRunCounts, foldWholeRun, maxGroups } from '../../../src/ledger/counts/fold.ts';
import { listFailureGroups } from '../../../src/ledger/counts/groups.ts';
import { readRunCounts } from '../../../src/ledger/counts/run-counts.ts';
import { beginDeletingRecords, deleteRecords } from '../../../src/ledger/purge/delete-records.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { acceptAll } from '../../support/accept-all.ts';
import { expectCountsKept } from '../../support/expect-counts.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const planTwenty = (): Promise<string> =>
  planContacts(
    opened.ledger,
    aRun({ chunkSize: 2 }),
    Array.from({ length: 20 }, (_, index) => aContact(index + 2)),
  );

test('requests that a process of Volley 0.3.0 records as accepted are counted', async () => {
  const { pool } = opened.ledger;
  const run = await planTwenty();
  await pool.query(
    `UPDATE slices SET claimed_to = 7, settled = settled + 3 WHERE run_id = $1 AND phase = 'sending'`,
    [run],
  );
  await pool.query(
    `INSERT INTO outcomes (run_id, slice, version, recorded_at, requests, ages_ms, took_ms)
     VALUES ($1, 1, 1, now(), '{1,2,5}', '{0,0,0}', '{1,1,1}')`,
    [run],
  );
  await expectCountsKept(pool, run);
  const counts = (await readRunCounts(pool, [run])).get(run);
  expect(counts?.requests).toMatchObject({ total: 10, planned: 3, sending: 4, accepted: 3 });
  expect(counts?.recipients).toMatchObject({ total: 20, pending: 14, accepted: 6 });
});

test('many changes of a run are folded into a row for each state, which readers do not notice', async () => {
  const { pool } = opened.ledger;
  const run = await planTwenty();
  await createRequestRows(pool, run);
  const change = (state: string, request: number) =>
    pool.query('UPDATE requests SET state = $2 WHERE run_id = $1 AND request = $3', [run, state, request]);
  for (let round = 0; round < 30; round++) {
    await change('failed', 1 + (round % 10));
    await change('planned', 1 + (round % 10));
  }
  await change('failed', 4);
  const rows = async () =>
    (await pool.query('SELECT counted, folded FROM run_counts WHERE run_id = $1', [run])).rows;
  const before = await readRunCounts(pool, [run]);
  expect((await rows()).length).toBeGreaterThan(100);

  await inTransaction(pool, (client) => foldRunCounts(client, [run]));
  expect(await rows()).toEqual(expect.arrayContaining([{ counted: 'failed', folded: true }]));
  expect((await rows()).length).toBeLessThan(10);
  expect(await readRunCounts(pool, [run])).toEqual(before);
  expect(before.get(run)?.requests).toMatchObject({ total: 10, planned: 9, failed: 1 });
  await expectCountsKept(pool, run);
});

test('one statement that changes many requests takes no longer after the session changed none', async () => {
  const { pool } = opened.ledger;
  const contacts = Array.from({ length: 20_000 }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  await createRequestRows(pool, run);
  await pool.query(`UPDATE slices SET state = 'done' WHERE run_id = $1`, [run]);
  await inTransaction(pool, async (client) => {
    // Postgres plans the statements of a trigger when a session first runs it. A nested loop would take minutes.
    await client.query(`UPDATE requests SET state = 'failed' WHERE run_id = 'none'`);
    await client.query("SET LOCAL statement_timeout = '20s'");
    await client.query(`UPDATE requests SET state = 'failed' WHERE run_id = $1`, [run]);
  });
  await expectCountsKept(pool, run);
  expect((await readRunCounts(pool, [run])).get(run)?.requests).toMatchObject({ failed: 20_000, planned: 0 });
});

test('in a slice that is sent again, a request that a report proved early stays accepted', async () => {
  const { pool } = opened.ledger;
  const run = await planTwenty();
  await acceptAll(pool, run);
  await pool.query(`INSERT INTO early_proofs (run_id, request) VALUES ($1, 1)`, [run]);
  await pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at) VALUES ($1, 1, 1, 'delivered', now())`,
    [run],
  );
  await pool.query(`UPDATE slices SET state = 'waiting' WHERE run_id = $1 AND slice = 1`, [run]);
  const counts = (await readRunCounts(pool, [run])).get(run);
  expect(counts?.recipients).toMatchObject({ pending: 0, accepted: 19, delivered: 1 });
});

test('of failures with many different words, the most frequent keep their words and the others are counted together', async () => {
  const { pool } = opened.ledger;
  const contacts = Array.from({ length: 400 }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  await createRequestRows(pool, run);
  const reject = (first: number, last: number, words: string) =>
    pool.query(
      `UPDATE requests SET state = 'rejected', reason = to_jsonb(${words}) WHERE run_id = $1 AND request BETWEEN $2 AND $3`,
      [run, first, last],
    );
  const fold = () => inTransaction(pool, (client) => foldWholeRun(client, run));
  const countOf = async (words: string) =>
    (await listFailureGroups(pool, run)).find(({ reason }) => reason === words)?.requests;

  await reject(1, 300, `'number ' || request`);
  await fold();
  const groups = await listFailureGroups(pool, run);
  expect(groups).toHaveLength(maxGroups + 1);
  expect(groups[0]).toMatchObject({ group: '', reason: { kind: 'other_words' }, requests: 300 - maxGroups });

  // Words that come later, but often.
  await reject(301, 400, `CAST('Unknown number' AS text)`);
  await fold();
  expect(await countOf('Unknown number')).toBe(100);

  await reject(1, 300, `CAST('Unknown number' AS text)`);
  await fold();
  expect(await listFailureGroups(pool, run)).toMatchObject([{ reason: 'Unknown number', requests: 400 }]);
  expect((await readRunCounts(pool, [run])).get(run)?.requests).toMatchObject({ rejected: 400 });
  await expectCountsKept(pool, run);
});

test('answers of a long run are kept by the quarter of an hour, in few rows', async () => {
  const { pool } = opened.ledger;
  const run = await planTwenty();
  const answers = 30_000;
  await pool.query(
    `INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, http_status)
     SELECT $1, 1, n, gen_random_uuid(), '2026-11-01 00:00Z'::timestamptz + n * interval '10 seconds',
            '2026-11-01 00:00Z'::timestamptz + n * interval '10 seconds' + n * interval '1 ms', 'retry', 503
     FROM generate_series(1, $2::integer) n`,
    [run, answers],
  );
  const sumOf = async () => {
    const { ended, latency } = await readRunAnswers(pool, run);
    return { ended: ended.reduce((sum, { attempts }) => sum + attempts, 0), latency };
  };
  const before = await sumOf();
  expect(before).toMatchObject({ ended: answers, latency: { answered: answers, median: 15_000 } });
  await inTransaction(pool, (client) => foldRunCounts(client, [run]));
  expect(await sumOf()).toEqual(before);
  const { rows } = await pool.query('SELECT FROM run_answers WHERE run_id = $1', [run]);
  expect(rows.length).toBeLessThan(1_000);
  await expectCountsKept(pool, run);
});

test('a run keeps its counts when its records are deleted, also of recipients whose request was rejected and who were reported', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), [aContact(2), aContact(3)]);
  await pool.query(
    `
    INSERT INTO requests (run_id, request, envelope, recipients, state, attempts, updated_at)
    VALUES ($1, 1, 1, 1, 'abandoned', 1, now()), ($1, 2, 1, 1, 'rejected', 1, now())
    `,
    [run],
  );
  await pool.query('INSERT INTO early_proofs (run_id, request) VALUES ($1, 2)', [run]);
  await pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at) VALUES ($1, 2, 1, 'delivered', now())`,
    [run],
  );
  await pool.query(
    `UPDATE slices SET claimed_to = last_request, claimed_at = now(), state = 'done' WHERE run_id = $1`,
    [run],
  );
  await pool.query(
    `UPDATE runs SET state = 'completed', finished_at = now(), purged_at = now() WHERE run_id = $1`,
    [run],
  );
  const before = await readRunCounts(pool, [run]);
  expect(before.get(run)?.recipients).toMatchObject({ accepted: 0, delivered: 1, rejected: 0, unknown: 1 });
  await beginDeletingRecords(pool, [run], new Date());
  await deleteRecords(pool, [run]);
  expect(await readRunCounts(pool, [run])).toEqual(before);
});

test('a late answer to an attempt whose answers are folded is counted once', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), [aContact(2), aContact(3)]);
  await pool.query(
    `
    INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict)
    VALUES ($1, 1, 1, gen_random_uuid(), '2026-01-01 00:00:10Z', '2026-01-01 00:00:11Z', 'in_doubt'),
           ($1, 2, 1, gen_random_uuid(), '2026-01-01 00:05:10Z', '2026-01-01 00:05:11Z', 'in_doubt')
    `,
    [run],
  );
  await inTransaction(pool, (client) => foldWholeRun(client, run));
  await pool.query(
    `
    UPDATE attempts
    SET verdict = 'accepted', http_status = 200, finished_at = '2026-01-01 00:06:00Z'
    WHERE run_id = $1 AND request = 1
    `,
    [run],
  );
  const { ended } = await readRunAnswers(pool, run);
  expect(ended.reduce((sum, { attempts }) => sum + attempts, 0)).toBe(2);
});

test('answers that are folded keep their interval when they are folded again', async () => {
  const { rows } = await opened.ledger.pool.query<{ first: string; again: string }>(`
    SELECT answer_interval(make_interval(secs => seconds))::text AS first,
           answer_interval(date_bin(answer_interval(make_interval(secs => seconds)), timestamptz 'epoch' + make_interval(secs => seconds), 'epoch') - 'epoch')::text AS again
    FROM generate_series(4_501, 7_000, 100) AS seconds
  `);
  expect(rows.filter(({ first, again }) => first !== again)).toEqual([]);
});
