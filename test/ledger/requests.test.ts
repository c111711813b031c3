import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClaimedRequest, claimRequests } from '../../src/ledger/requests/claim.ts';
import { doubtOrphanedRequests } from '../../src/ledger/requests/orphans.ts';
import { startNextAttempt } from '../../src/ledger/requests/retry.ts';
import { type Settlement, settleRequests } from '../../src/ledger/requests/settle.ts';
import { summariseRun } from '../../src/ledger/runs/summary.ts';
import { aContact, aRun, openTestLedger, planContacts, type TestLedger } from '../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

const mine = '00000000-0000-4000-8000-000000000001';
const theirs = '00000000-0000-4000-8000-000000000002';

async function planRequests(count: number): Promise<string> {
  const contacts = Array.from({ length: count }, (_, index) => aContact(index + 2));
  return planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
}

async function claim(run: string, owner: string, limit: number): Promise<readonly ClaimedRequest[]> {
  return (await claimRequests(opened.ledger.pool, { run, owner, limit, now: new Date() })).claimed;
}

function accepted({ request, attempt }: ClaimedRequest): Settlement {
  return { request, attempt, finishedAt: new Date(), httpStatus: 200, detail: null, state: 'accepted' };
}

async function attemptsOf(run: string) {
  const { rows } = await opened.ledger.pool.query(
    'SELECT request, attempt, owner, verdict, detail FROM attempts WHERE run_id = $1 ORDER BY request, attempt',
    [run],
  );
  return rows;
}

async function requestsOf(run: string) {
  return (await summariseRun(opened.ledger.pool, run))?.requests;
}

test('a claimed request is sending, with its attempt written, before the claim returns', async () => {
  const run = await planRequests(3);
  const claimed = await claim(run, mine, 2);
  expect(claimed.map(({ request, attempt }) => [request, attempt])).toEqual([
    [1, 1],
    [2, 1],
  ]);
  expect(await requestsOf(run)).toMatchObject({ sending: 2, planned: 1 });
  expect(await attemptsOf(run)).toEqual([
    { request: 1, attempt: 1, owner: mine, verdict: null, detail: null },
    { request: 2, attempt: 1, owner: mine, verdict: null, detail: null },
  ]);
});

test('many claims at once never hand out a request twice', async () => {
  const run = await planRequests(200);
  const claims = await Promise.all(
    Array.from({ length: 40 }, (_, index) => claim(run, index % 2 ? mine : theirs, 5)),
  );
  const numbers = claims.flat().map(({ request }) => request);
  expect(numbers.length).toBe(200);
  expect(new Set(numbers).size).toBe(200);
});

test('a settlement by anyone but the owner changes nothing', async () => {
  const run = await planRequests(1);
  const [request] = await claim(run, mine, 1);
  if (!request) throw new Error('nothing was claimed');
  expect(await settleRequests(opened.ledger.pool, run, theirs, [accepted(request)])).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ sending: 1 });
});

test('an accepted request is not settled again', async () => {
  const run = await planRequests(1);
  const [request] = await claim(run, mine, 1);
  if (!request) throw new Error('nothing was claimed');
  expect(await settleRequests(opened.ledger.pool, run, mine, [accepted(request)])).toEqual([1]);
  const rejected: Settlement = { ...accepted(request), state: 'rejected', detail: 'late' };
  expect(await settleRequests(opened.ledger.pool, run, mine, [rejected])).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ accepted: 1, rejected: 0 });
});

test('a request whose owner is gone becomes in_doubt and is never claimed again', async () => {
  const run = await planRequests(2);
  await claim(run, theirs, 1);
  expect(await doubtOrphanedRequests(opened.ledger.pool, run, new Date())).toBe(1);
  expect(await requestsOf(run)).toMatchObject({ in_doubt: 1, planned: 1 });
  expect((await claim(run, mine, 10)).map(({ request }) => request)).toEqual([2]);
  expect(await attemptsOf(run)).toMatchObject([
    { request: 1, verdict: 'in_doubt' },
    { request: 2, verdict: null },
  ]);
});

test('a second attempt ends the first, and has the same MessageID', async () => {
  const run = await planRequests(1);
  const [first] = await claim(run, mine, 1);
  if (!first) throw new Error('nothing was claimed');
  const retry = {
    run,
    owner: mine,
    request: 1,
    attempt: 1,
    httpStatus: 503,
    detail: 'HTTP 503',
    finishedAt: new Date(),
    now: new Date(),
  };
  expect(await startNextAttempt(opened.ledger.pool, retry)).toBe(true);
  expect(await attemptsOf(run)).toMatchObject([
    { attempt: 1, verdict: 'retry', detail: 'HTTP 503' },
    { attempt: 2, verdict: null },
  ]);
  const back: Settlement = { ...accepted(first), attempt: 2, state: 'planned', verdict: 'released' };
  await settleRequests(opened.ledger.pool, run, mine, [back]);
  expect(await claim(run, theirs, 1)).toMatchObject([{ request: 1, attempt: 3, messageId: first.messageId }]);
});

test('a second attempt is not begun by an owner who no longer holds the request', async () => {
  const run = await planRequests(1);
  await claim(run, theirs, 1);
  const retry = {
    run,
    owner: mine,
    request: 1,
    attempt: 1,
    httpStatus: null,
    detail: '',
    finishedAt: new Date(),
    now: new Date(),
  };
  expect(await startNextAttempt(opened.ledger.pool, retry)).toBe(false);
  expect(await attemptsOf(run)).toHaveLength(1);
});

test('the states of requests and recipients add up to what was planned', async () => {
  const run = await planRequests(6);
  const claimed = await claim(run, mine, 4);
  const states = ['accepted', 'rejected', 'failed', 'in_doubt'] as const;
  await settleRequests(
    opened.ledger.pool,
    run,
    mine,
    claimed.map((request, index) => ({ ...accepted(request), state: states[index] ?? 'accepted' })),
  );
  await claim(run, mine, 1);
  const summary = await summariseRun(opened.ledger.pool, run);
  expect(summary?.requests).toEqual({
    total: 6,
    planned: 1,
    sending: 1,
    accepted: 1,
    rejected: 1,
    failed: 1,
    in_doubt: 1,
    cancelled: 0,
    abandoned: 0,
  });
  expect(summary?.recipients).toEqual({
    total: 6,
    pending: 2,
    accepted: 1,
    delivered: 0,
    undelivered: 0,
    rejected: 1,
    failed: 1,
    unknown: 1,
    cancelled: 0,
  });
});
