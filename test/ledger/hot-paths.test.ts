import { expect, test } from 'vitest';
import type { SendingSlice } from '../../src/ledger/slices/acquire.ts';
import { addSuppressions } from '../../src/ledger/suppressions/add.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../support/ledger.ts';
import { createRequestRows } from '../support/request-rows.ts';
import { type Claim, claimRequests, settleRequests } from '../support/requests.ts';
import { acquireSliceOf } from '../support/slices.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();

/** A run with requests of one recipient each, claimed by the test. */
async function acquireRequests(count: number, words: readonly string[] = ['Hello']): Promise<SendingSlice> {
  const contacts = Array.from({ length: count }, (_, index) =>
    aContact(index + 2, { envelope: anEnvelope({ Message: words[index % words.length] ?? '' }) }),
  );
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  return acquireSliceOf(opened.ledger, run);
}

function claimFrom(slices: readonly SendingSlice[], limit: number, from = 1): Promise<Claim[]> {
  return claimRequests(
    opened.ledger.hot,
    slices.map((slice) => ({ ...slice, from, limit })),
    { now: new Date() },
  );
}

/** Records accepted requests at once, as a worker does. */
async function claimAndSettle(
  slice: SendingSlice,
  requests: number,
  limit: number,
  answered: { readonly jobNumber?: string } = {},
): Promise<void> {
  const { hot } = opened.ledger;
  const { run, slice: number, owner } = slice;
  for (let from = 1; from <= requests; from += limit) {
    const claims = await claimFrom([slice], limit, from);
    const claimed = claims.flatMap((claim) => claim.claimed);
    const finishedAt = new Date();
    const settled = await settleRequests(
      hot,
      claimed.map(({ request, attempt }) => {
        const of = { run, slice: number, owner, request, attempt, finishedAt, httpStatus: 200, detail: null };
        return { ...of, state: 'accepted', ...answered };
      }),
    );
    expect(settled.size).toBe(limit);
  }
}

test('a connection plans claims and settlements once', async () => {
  const slice = await acquireRequests(40);
  await claimAndSettle(slice, 40, 2);
  const { rows } = await opened.ledger.hot.query(`
    SELECT name, custom_plans > 0 AS planned_anew FROM pg_prepared_statements WHERE generic_plans >= 20 ORDER BY name
  `);
  expect(rows).toEqual([
    { name: 'advance-slices', planned_anew: false },
    { name: 'read-contents', planned_anew: false },
    { name: 'read-envelopes', planned_anew: false },
  ]);
});

// A page has room for the update, unless a long transaction of another test keeps old rows. Then the row moves to
// another page.
test.each([{}, { jobNumber: '12AB34CD' }])(
  'a claim and a settlement (of an answer with %j) add no row for ordinary requests, and change no indexed column of slices',
  async (answered) => {
    const slice = await acquireRequests(100);
    const { hot, pool } = opened.ledger;
    const counts = async () => {
      await hot.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await pool.query<Record<'rows' | 'outcomes' | 'changed' | 'indexed', number>>(`
        SELECT CAST(sum(n_tup_ins) FILTER (WHERE relname IN ('requests', 'attempts')) AS integer) AS rows,
               CAST(sum(n_tup_ins) FILTER (WHERE relname = 'outcomes') AS integer) AS outcomes,
               CAST(sum(n_tup_upd) AS integer) AS changed,
               CAST(sum(n_tup_upd - n_tup_hot_upd - n_tup_newpage_upd) AS integer) AS indexed
        FROM pg_stat_user_tables
        WHERE relname IN ('requests', 'attempts', 'outcomes', 'slices')
      `);
      return rows[0] ?? { rows: Number.NaN, outcomes: 0, changed: 0, indexed: 0 };
    };
    const before = await counts();
    await claimAndSettle(slice, 100, 25, answered);
    const after = await counts();
    expect(after.rows).toBe(before.rows);
    expect(after.outcomes - before.outcomes).toBe(4);
    // Twenty-five times a claim and its acceptances.
    expect(after.changed - before.changed).toBe(8);
    expect(after.indexed - before.indexed).toBe(0);
  },
);

test('a claim and a settlement of requests with rows change no indexed column of requests and attempts', async () => {
  const slice = await acquireRequests(100);
  const { hot, pool } = opened.ledger;
  await createRequestRows(pool, slice.run);
  const counts = async () => {
    await hot.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ changed: number; indexed: number }>(`
      SELECT sum(n_tup_upd)::integer AS changed,
             sum(n_tup_upd - n_tup_hot_upd - n_tup_newpage_upd)::integer AS indexed
      FROM pg_stat_user_tables
      WHERE relname IN ('requests', 'attempts')
    `);
    return rows[0] ?? { changed: 0, indexed: 0 };
  };
  const before = await counts();
  await claimAndSettle(slice, 100, 25);
  const after = await counts();
  expect(after.changed - before.changed).toBe(300);
  expect(after.indexed - before.indexed).toBe(0);
});

test('one statement claims requests of many slices, each with its own message', async () => {
  const slices = [
    await acquireRequests(3, ['One', 'Other']),
    await acquireRequests(2, ['Third']),
    await acquireRequests(2, ['Last']),
  ];
  const claims = await claimFrom(slices, 3);
  expect(
    claims.map(({ claimed }) => claimed.map(({ request, envelope }) => [request, envelope.fields])),
  ).toEqual([
    [
      [1, { Message: 'One' }],
      [2, { Message: 'One' }],
      [3, { Message: 'Other' }],
    ],
    [
      [1, { Message: 'Third' }],
      [2, { Message: 'Third' }],
    ],
    [
      [1, { Message: 'Last' }],
      [2, { Message: 'Last' }],
    ],
  ]);
});

test('a claim of several slices grants nothing from a slice of another owner, and grants the rest', async () => {
  const [mine, theirs] = [await acquireRequests(2), await acquireRequests(2)];
  const claims = await claimFrom([{ ...theirs, owner: mine.owner }, mine], 2);
  expect(claims.map(({ claimed }) => claimed.length)).toEqual([0, 2]);
});

test('a claim of many requests leaves suppressed recipients out and keeps the order', async () => {
  const slices = [await acquireRequests(4), await acquireRequests(3)];
  const about = { subAccount: '', reason: '', source: 'operator', createdAt: new Date() } as const;
  await addSuppressions(opened.ledger.pool, [{ channel: 'sms', address: '+61400000003', ...about }]);
  const claims = await claimFrom(slices, 3);
  expect(
    claims.map(({ claimed, cancelled }) => ({
      claimed: claimed.map(({ request }) => request),
      cancelled: cancelled.map(({ request }) => request),
    })),
  ).toEqual([
    { claimed: [1, 3, 4], cancelled: [] },
    { claimed: [1, 3], cancelled: [2] },
  ]);
});
