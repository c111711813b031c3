import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HeldSlice } from '../../src/ledger/slices/acquire.ts';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { aContact, aRun, openTestLedger, planContacts, type TestLedger } from '../support/ledger.ts';
import { claimRequests, settleRequests } from '../support/requests.ts';
import { holdNextSlice } from '../support/slices.ts';

/** How Postgres plans claim and settle: once a connection, at a cost that it can compare, and by keys alone. */

let opened: TestLedger;
let slices: HeldSlice[];
beforeAll(async () => {
  opened = await openTestLedger();
  slices = [await holdFour(), await holdFour(), await holdFour()];
  const suppressed = { channel: 'sms', address: '+61400000003', subAccount: '', reason: '' } as const;
  await addSuppressions(opened.ledger.pool, [{ ...suppressed, source: 'operator', createdAt: new Date() }]);
});
afterAll(() => opened.close());

/** Four requests with a recipient each, of which the second is suppressed later, in the test's hands. */
async function holdFour(): Promise<HeldSlice> {
  const contacts = [2, 3, 4, 5].map((line) => aContact(line));
  return holdNextSlice(opened.ledger, await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts));
}

/** Of the first four requests of a slice: three are claimed, one is suppressed, and one answer has a job's number. */
async function claimAndSettleFour(slice: HeldSlice | undefined): Promise<void> {
  if (!slice) throw new Error('there is no such slice');
  const claims = await claimRequests(opened.ledger.hot, [{ ...slice, from: 1, limit: 4 }], new Date());
  const [claim] = claims;
  expect(claim).toMatchObject({
    claimed: [{ request: 1 }, { request: 3 }, { request: 4 }],
    cancelled: [{ request: 2 }],
  });
  const accepted = { finishedAt: new Date(), httpStatus: 200, detail: null, state: 'accepted' } as const;
  const settlements = (claim?.claimed ?? []).map(({ request, attempt }) => {
    return { run: slice.run, slice: slice.slice, owner: slice.owner, request, attempt, ...accepted };
  });
  const [first, ...others] = settlements;
  expect((await settleRequests(opened.ledger.hot, others)).size).toBe(2);
  if (first) await settleRequests(opened.ledger.hot, [{ ...first, job: '34CD' }]);
}

/** Rows that were read since the server counts, in tables and in indexes, of those that grow with a run or a list. */
async function rowsRead(): Promise<number> {
  await opened.ledger.hot.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await opened.ledger.pool.query<{ read: number }>(`
    SELECT (sum(t.seq_tup_read) + sum(i.read))::integer AS read
    FROM pg_stat_user_tables t
    JOIN LATERAL (SELECT sum(idx_tup_read) AS read FROM pg_stat_user_indexes i WHERE i.relid = t.relid) i ON true
    WHERE relname IN ('requests', 'attempts', 'contents', 'envelopes', 'recipient_outcomes', 'suppressions', 'slices', 'jobs')
  `);
  return rows[0]?.read ?? Number.NaN;
}

test('a claim and a settle that were planned on small tables read few rows of large ones', async () => {
  const { pool } = opened.ledger;
  const [small, large] = slices;
  const before = await rowsRead();
  await claimAndSettleFour(small);
  const ofSmall = (await rowsRead()) - before;
  const rows = 2_000;
  await pool.query(`
    INSERT INTO requests (run_id, request, envelope, recipients, state, attempts)
    SELECT run_id, n, 1, 1, 'accepted', 1 FROM runs, generate_series(1001, ${1000 + rows}) n WHERE run_id = '${large?.run}';
    INSERT INTO contents (run_id, first_request, last_request, envelopes, sizes, request_offsets, positions, lines, addresses)
    SELECT run_id, request, request, '{1}', '{1}', '{0}', '{1}', '{1}', '{+6421}' FROM requests WHERE run_id = '${large?.run}' AND request > 1000;
    INSERT INTO attempts (run_id, request, attempt, owner, started_at)
    SELECT run_id, request, 1, gen_random_uuid(), now() FROM requests WHERE run_id = '${large?.run}' AND request > 1000;
    INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
    SELECT run_id, request, 1, 'cancelled', 'left out', now() FROM requests WHERE run_id = '${large?.run}' AND request > 1000;
    INSERT INTO envelopes (run_id, envelope, fields)
    SELECT '${large?.run}', n, '{}' FROM generate_series(1001, ${1000 + rows}) n;
    INSERT INTO suppressions (channel, address, sub_account, source, reason, created_at)
    SELECT 'sms', '+61500' || n, '', 'operator', '', now() FROM generate_series(1001, ${1000 + rows}) n;
  `);
  const between = await rowsRead();
  await claimAndSettleFour(large);
  const ofLarge = (await rowsRead()) - between;
  expect(ofLarge).toBeLessThan(ofSmall + 20);
});

test('the planner prices every statement of claim and settle as it is: nothing in it is what a setting forbids', async () => {
  await claimAndSettleFour(slices[2]);
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
    const fine = { isCheap: true, forbidden: false };
    expect(plans).toEqual([
      { name: 'claim-fresh-requests', ...fine },
      { name: 'claim-other-requests', ...fine },
      { name: 'settle-requests', ...fine },
      { name: 'settle-requests-with-jobs', ...fine },
    ]);
    const { rows: settings } = await client.query('SHOW jit');
    expect(settings).toEqual([{ jit: 'off' }]);
  } finally {
    client.release();
  }
});
