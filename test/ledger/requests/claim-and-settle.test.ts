import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { returnSlice } from '../../../src/ledger/slices/reclaim.ts';
import {
  type ClaimedRequest,
  claimRequests,
  markUnrecordedInDoubt,
  type Settlement,
  settleRequests,
} from '../../support/claims.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { settleRequests as settle, startNextAttempt } from '../../support/requests.ts';
import { acquireSliceOf, claimFrom } from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { claimConcurrently } from './claim-concurrently.ts';

const opened = testLedger();

const thisOwner = '00000000-0000-4000-8000-000000000001';
const otherOwner = '00000000-0000-4000-8000-000000000002';

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
    'SELECT request, attempt, owner, verdict, detail FROM all_attempts WHERE run_id = $1 ORDER BY request, attempt',
    [run],
  );
  return rows;
}

async function requestsOf(run: string) {
  return (await summariseRun(opened.ledger.pool, run))?.requests;
}

test('a claim commits the state sending and an attempt before it returns', async () => {
  const run = await planRequests(3);
  const claimed = await claim(run, thisOwner, 2);
  expect(claimed.map(({ request, attempt }) => [request, attempt])).toEqual([
    [1, 1],
    [2, 1],
  ]);
  expect(await requestsOf(run)).toMatchObject({ sending: 2, planned: 1 });
  expect(await attemptsOf(run)).toEqual([
    { request: 1, attempt: 1, owner: thisOwner, verdict: null, detail: null },
    { request: 2, attempt: 1, owner: thisOwner, verdict: null, detail: null },
  ]);
});

test('of many concurrent claims, only the owner of the slice gets its requests, each once', async () => {
  const slice = await acquireSliceOf(opened.ledger, await planRequests(100));
  const numbers: number[] = [];
  let isDone = false;
  const others = Array.from({ length: 8 }, async () => {
    while (!isDone) {
      const ofAnother = { ...slice, owner: randomUUID() };
      expect((await claimFrom(opened.ledger, ofAnother, 5)).claimed).toEqual([]);
    }
  });
  while (numbers.length < 100) {
    const { claimed } = await claimFrom(opened.ledger, slice, 5);
    numbers.push(...claimed.map(({ request }) => request));
  }
  isDone = true;
  await Promise.all(others);
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

test('concurrent claims of requests with rows never return a request twice', async () => {
  const run = await planRequests(100);
  const slice = await acquireSliceOf(opened.ledger, run);
  await createRequestRows(opened.ledger.pool, run);
  const numbers = (await claimConcurrently(opened.ledger, slice, 10, 5)).map(({ request }) => request);
  expect(numbers.length).toBe(100);
  expect(new Set(numbers).size).toBe(100);
});

test('a settlement by another owner changes nothing', async () => {
  const run = await planRequests(1);
  const [request] = await claim(run, thisOwner, 1);
  if (!request) throw new Error('nothing was claimed');
  expect(await settleRequests(opened.ledger.pool, run, otherOwner, [accepted(request)])).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ sending: 1 });
});

test('an outcome of an earlier attempt changes nothing', async () => {
  const run = await planRequests(1);
  const [first] = await claim(run, thisOwner, 1);
  if (!first) throw new Error('nothing was claimed');
  const released: Settlement = {
    ...accepted(first),
    httpStatus: null,
    state: 'planned',
    verdict: 'released',
  };
  await settleRequests(opened.ledger.pool, run, thisOwner, [released]);
  await claim(run, thisOwner, 1);
  expect(await settleRequests(opened.ledger.pool, run, thisOwner, [released])).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ sending: 1, planned: 0 });
});

test('a returned request is claimed neither by a former owner of the slice nor while the run is paused', async () => {
  const { ledger } = opened;
  const run = await planRequests(1);
  const former = await acquireSliceOf(ledger, run);
  const {
    claimed: [first],
  } = await claimFrom(ledger, former, 1);
  if (!first) throw new Error('nothing was claimed');
  const released = { ...accepted(first), run, slice: 1, owner: former.owner, httpStatus: null } as const;
  await settle(ledger.hot, [{ ...released, state: 'planned', verdict: 'released' }]);
  await returnSlice(await ledger.queue(), ledger.pool, former, new Date());
  expect((await claimFrom(ledger, former, 1)).claimed).toEqual([]);
  const held = await acquireSliceOf(ledger, run);
  expect((await claimFrom(ledger, former, 1)).claimed).toEqual([]);
  await pauseRun(await ledger.queue(), ledger.pool, run, { reason: 'enough' });
  expect((await claimFrom(ledger, held, 1)).claimed).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ planned: 1 });
});

test('a settlement of an accepted request changes nothing', async () => {
  const run = await planRequests(1);
  const [request] = await claim(run, thisOwner, 1);
  if (!request) throw new Error('nothing was claimed');
  expect(await settleRequests(opened.ledger.pool, run, thisOwner, [accepted(request)])).toEqual([1]);
  const rejected: Settlement = { ...accepted(request), state: 'rejected', detail: 'late' };
  expect(await settleRequests(opened.ledger.pool, run, thisOwner, [rejected])).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ accepted: 1, rejected: 0 });
});

test('a request whose owner ended becomes in doubt and is never claimed again', async () => {
  const run = await planRequests(2);
  await claim(run, otherOwner, 1);
  expect(await markUnrecordedInDoubt(opened.ledger.pool, run, new Date())).toBe(1);
  expect(await requestsOf(run)).toMatchObject({ in_doubt: 1, planned: 1 });
  expect((await claim(run, thisOwner, 10)).map(({ request }) => request)).toEqual([2]);
  expect(await attemptsOf(run)).toMatchObject([
    { request: 1, verdict: 'in_doubt' },
    { request: 2, verdict: null },
  ]);
});

test('a second attempt ends the first one and has the same MessageID', async () => {
  const run = await planRequests(1);
  const [first] = await claim(run, thisOwner, 1);
  if (!first) throw new Error('nothing was claimed');
  const retry = {
    run,
    owner: thisOwner,
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
  await settleRequests(opened.ledger.pool, run, thisOwner, [back]);
  expect(await claim(run, otherOwner, 1)).toMatchObject([
    { request: 1, attempt: 3, messageId: first.messageId },
  ]);
});

test('a former owner of a request cannot begin another attempt of it', async () => {
  const run = await planRequests(1);
  await claim(run, otherOwner, 1);
  const retry = {
    run,
    owner: thisOwner,
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

test('the counts by state add up to the planned requests and recipients', async () => {
  const run = await planRequests(6);
  const claimed = await claim(run, thisOwner, 4);
  const states = ['accepted', 'rejected', 'failed', 'in_doubt'] as const;
  await settleRequests(
    opened.ledger.pool,
    run,
    thisOwner,
    claimed.map((request, index) => ({ ...accepted(request), state: states[index] ?? 'accepted' })),
  );
  await claim(run, thisOwner, 1);
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

test('a cancelled run has only cancelled requests, even after its planned requests were to get rows', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(
    opened.ledger,
    aRun({ chunkSize: 1 }),
    [1, 2, 3].map((line) => aContact(line)),
  );
  await cancelRun(await opened.ledger.queue(), pool, run, { reason: 'wrong list', now: new Date() });
  await createRequestRows(pool, run);
  const { rows } = await pool.query('SELECT DISTINCT state FROM request_states WHERE run_id = $1', [run]);
  expect(rows).toEqual([{ state: 'cancelled' }]);
});
