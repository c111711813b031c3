import { beforeAll, expect, test } from 'vitest';
import type { Settlement } from '../../src/ledger/requests/settle.ts';
import type { SendingSlice } from '../../src/ledger/slices/acquire.ts';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { claimRequests, settleRequests, startNextAttempt } from '../support/requests.ts';
import { acquireSliceOf } from '../support/slices.ts';
import { testLedger } from '../support/test-ledger.ts';

/** Postgres plans claims and settlements once a connection, by keys only, at comparable costs. */

const opened = testLedger();
let slices: SendingSlice[];
beforeAll(async () => {
  slices = [await acquireFive(), await acquireFive(), await acquireFive()];
  const suppressed = { channel: 'sms', address: '+61400000003', subAccount: '', reason: '' } as const;
  await addSuppressions(opened.ledger.pool, [{ ...suppressed, source: 'operator', createdAt: new Date() }]);
});

/** Five requests of one recipient each, claimed by the test; the second is suppressed later. */
async function acquireFive(): Promise<SendingSlice> {
  const contacts = [2, 3, 4, 5, 6].map((line) => aContact(line));
  return acquireSliceOf(opened.ledger, await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts));
}

/**
 * Of five requests one is suppressed, two are accepted (one with a job number), and two get rows: one in doubt, one
 * sent again and accepted with a job number.
 */
async function claimAndSettleFive(slice: SendingSlice | undefined): Promise<void> {
  if (!slice) throw new Error('there is no such slice');
  const { hot } = opened.ledger;
  const claims = await claimRequests(hot, [{ ...slice, from: 1, limit: 5 }], { now: new Date() });
  expect(claims).toMatchObject([
    {
      claimed: [{ request: 1 }, { request: 3 }, { request: 4 }, { request: 5 }],
      cancelled: [{ request: 2 }],
    },
  ]);
  const { run, slice: number, owner } = slice;
  const ended = { finishedAt: new Date(), httpStatus: 200, detail: null };
  const attempt = (request: number) => ({ run, slice: number, owner, request, attempt: 1, ...ended });
  const retry = { ...attempt(5), httpStatus: 503, detail: 'HTTP 503', now: new Date() };
  expect(await startNextAttempt(hot, retry)).toBe(true);
  const settlements: readonly Settlement[] = [
    { ...attempt(1), state: 'accepted' },
    { ...attempt(3), state: 'accepted', jobNumber: '34CD' },
    { ...attempt(4), state: 'in_doubt', httpStatus: null },
    { ...attempt(5), attempt: 2, state: 'accepted', jobNumber: '56EF' },
  ];
  for (const settlement of settlements) expect((await settleRequests(hot, [settlement])).size).toBe(1);
}

/** Rows of growing tables and their indexes that the server has read. */
async function rowsRead(): Promise<number> {
  await opened.ledger.hot.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await opened.ledger.pool.query<{ read: number }>(`
    SELECT (sum(t.seq_tup_read) + sum(i.read))::integer AS read
    FROM pg_stat_user_tables t
    JOIN LATERAL (SELECT sum(idx_tup_read) AS read FROM pg_stat_user_indexes i WHERE i.relid = t.relid) i ON true
    WHERE relname IN ('requests', 'attempts', 'outcomes', 'contents', 'envelopes', 'recipient_outcomes', 'suppressions', 'slices', 'job_numbers')
  `);
  return rows[0]?.read ?? Number.NaN;
}

test('a claim and a settlement planned on small tables read few rows of large ones', async () => {
  const { pool } = opened.ledger;
  const [small, large] = slices;
  const before = await rowsRead();
  await claimAndSettleFive(small);
  const ofSmall = (await rowsRead()) - before;
  const rows = 2_000;
  await pool.query(`
    INSERT INTO requests (run_id, request, envelope, recipients, state, attempts)
    SELECT run_id, n, 1, 1, 'accepted', 1 FROM runs, generate_series(1001, ${1000 + rows}) n WHERE run_id = '${large?.run}';
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses)
    SELECT run_id, request, request, request, '{1}', '{1}', '{0}', '{1}', '{1}', '{+6421}' FROM requests WHERE run_id = '${large?.run}' AND request > 1000;
    INSERT INTO slices (run_id, slice, first_request, last_request, claimed_to, state)
    SELECT run_id, request, request, request, request, 'done' FROM requests WHERE run_id = '${large?.run}' AND request > 1000;
    INSERT INTO outcomes (run_id, slice, version, recorded_at, requests, ages_ms, took_ms)
    SELECT run_id, request, 1, now(), ARRAY[request], '{0}', '{0}' FROM requests WHERE run_id = '${large?.run}' AND request > 1000;
    INSERT INTO attempts (run_id, request, attempt, owner, started_at)
    SELECT run_id, request, 1, gen_random_uuid(), now() FROM requests WHERE run_id = '${large?.run}' AND request > 1000;
    INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
    SELECT run_id, request, 1, 'cancelled', 'suppressed', now() FROM requests WHERE run_id = '${large?.run}' AND request > 1000;
    INSERT INTO envelopes (run_id, envelope, fields)
    SELECT '${large?.run}', n, '{}' FROM generate_series(1001, ${1000 + rows}) n;
    INSERT INTO suppressions (channel, address, sub_account, source, reason, created_at)
    SELECT 'sms', '+61500' || n, '', 'operator', '', now() FROM generate_series(1001, ${1000 + rows}) n;
  `);
  const between = await rowsRead();
  await claimAndSettleFive(large);
  const ofLarge = (await rowsRead()) - between;
  expect(ofLarge).toBeLessThan(ofSmall + rows / 10);
});

test('no claim or settlement needs a plan that the settings forbid', async () => {
  await claimAndSettleFive(slices[2]);
  const client = await opened.ledger.hot.connect();
  try {
    const { rows } = await client.query<{ name: string; parameters: number }>(`
      SELECT name, cardinality(parameter_types) AS parameters FROM pg_prepared_statements ORDER BY name
    `);
    const plans = [];
    for (const { name, parameters } of rows) {
      const nulls = Array.from({ length: parameters }, () => 'NULL').join(', ');
      const explained = await client.query<{ 'QUERY PLAN': unknown }>(
        `EXPLAIN (FORMAT JSON) EXECUTE "${name}" (${nulls})`,
      );
      const plan = JSON.stringify(explained.rows[0]?.['QUERY PLAN']);
      const cost = Math.max(...[...plan.matchAll(/"Total Cost":([\d.]+)/g)].map(([, each]) => Number(each)));
      plans.push({ name, isCheap: cost < 10_000, forbidden: /"Disabled":true|"Seq Scan"/.test(plan) });
    }
    const expectedPlan = { isCheap: true, forbidden: false };
    expect(plans).toEqual([
      { name: 'add-planned-rows', ...expectedPlan },
      { name: 'advance-slices', ...expectedPlan },
      { name: 'advance-slices-with-job-numbers', ...expectedPlan },
      { name: 'claim-rows', ...expectedPlan },
      { name: 'move-billed-outcomes', ...expectedPlan },
      { name: 'read-contents', ...expectedPlan },
      { name: 'read-envelopes', ...expectedPlan },
      { name: 'settle-requests', ...expectedPlan },
    ]);
    const { rows: settings } = await client.query('SHOW jit');
    expect(settings).toEqual([{ jit: 'off' }]);
  } finally {
    client.release();
  }
});
