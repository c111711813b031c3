import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Suppression } from '../../../src/domain/suppressions.ts';
import { listCancellations, listDeliveryResults, listFailures } from '../../../src/ledger/runs/details.ts';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { summariseRun } from '../../../src/ledger/runs/summary.ts';
import type { SendingSlice } from '../../../src/ledger/slices/acquire.ts';
import { returnSlice } from '../../../src/ledger/slices/reclaim.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { billingOf } from '../../support/billing.ts';
import {
  type ClaimedRequest,
  claimRequests,
  doubtUnrecorded,
  type Settlement,
  settleRequests,
} from '../../support/claims.ts';
import {
  aContact,
  anEnvelope,
  aRun,
  openTestLedger,
  planContacts,
  type TestLedger,
} from '../../support/ledger.ts';
import { addressesOf } from '../../support/outgoing.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { settleRequests as settle, startNextAttempt } from '../../support/requests.ts';
import { acquireSliceOf, claimFrom } from '../../support/slices.ts';

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
    'SELECT request, attempt, owner, verdict, detail FROM all_attempts WHERE run_id = $1 ORDER BY request, attempt',
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

/** So many claim at once, again and again, until all requests of a slice, which have rows, are claimed. */
async function claimTogether(
  slice: SendingSlice,
  claimants: number,
  limit: number,
): Promise<ClaimedRequest[]> {
  const claimed: ClaimedRequest[] = [];
  const claimAll = async (): Promise<void> => {
    while (claimed.length < slice.last) {
      claimed.push(...(await claimFrom(opened.ledger, slice, limit)).claimed);
    }
  };
  await Promise.all(Array.from({ length: claimants }, claimAll));
  return claimed;
}

test('of many who claim at once only the holder of the slice is given its requests, each once', async () => {
  const slice = await acquireSliceOf(opened.ledger, await planRequests(100));
  const numbers: number[] = [];
  let isDone = false;
  const others = Array.from({ length: 8 }, async () => {
    while (!isDone) {
      const lost = { ...slice, owner: randomUUID() };
      expect((await claimFrom(opened.ledger, lost, 5)).claimed).toEqual([]);
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

test('many claims at once of requests that have rows never hand out a request twice', async () => {
  const run = await planRequests(100);
  const slice = await acquireSliceOf(opened.ledger, run);
  await createRequestRows(opened.ledger.pool, run);
  const numbers = (await claimTogether(slice, 10, 5)).map(({ request }) => request);
  expect(numbers.length).toBe(100);
  expect(new Set(numbers).size).toBe(100);
});

test('a settlement by anyone but the owner changes nothing', async () => {
  const run = await planRequests(1);
  const [request] = await claim(run, mine, 1);
  if (!request) throw new Error('nothing was claimed');
  expect(await settleRequests(opened.ledger.pool, run, theirs, [accepted(request)])).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ sending: 1 });
});

test('an outcome settles only the attempt that it is of, whoever the owner is', async () => {
  const run = await planRequests(1);
  const [first] = await claim(run, mine, 1);
  if (!first) throw new Error('nothing was claimed');
  const released: Settlement = {
    ...accepted(first),
    httpStatus: null,
    state: 'planned',
    verdict: 'released',
  };
  await settleRequests(opened.ledger.pool, run, mine, [released]);
  await claim(run, mine, 1);
  expect(await settleRequests(opened.ledger.pool, run, mine, [released])).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ sending: 1, planned: 0 });
});

test('what was given back is claimed again by nobody who has lost the slice, nor while the run is paused', async () => {
  const { ledger } = opened;
  const run = await planRequests(1);
  const lost = await acquireSliceOf(ledger, run);
  const {
    claimed: [first],
  } = await claimFrom(ledger, lost, 1);
  if (!first) throw new Error('nothing was claimed');
  const released = { ...accepted(first), run, slice: 1, owner: lost.owner, httpStatus: null } as const;
  await settle(ledger.hot, [{ ...released, state: 'planned', verdict: 'released' }]);
  await returnSlice(await ledger.queue(), ledger.pool, lost, new Date());
  expect((await claimFrom(ledger, lost, 1)).claimed).toEqual([]);
  const held = await acquireSliceOf(ledger, run);
  expect((await claimFrom(ledger, lost, 1)).claimed).toEqual([]);
  await pauseRun(await ledger.queue(), ledger.pool, run, 'enough');
  expect((await claimFrom(ledger, held, 1)).claimed).toEqual([]);
  expect(await requestsOf(run)).toMatchObject({ planned: 1 });
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
  expect(await doubtUnrecorded(opened.ledger.pool, run, new Date())).toBe(1);
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

describe('recipients who are suppressed when their request is claimed', () => {
  afterEach(async () => {
    await opened.ledger.pool.query('DELETE FROM suppressions');
  });

  /** The address of the contact in this line. */
  const addressOf = (line: number): string => `+6140000${String(line).padStart(4, '0')}`;

  /** Contacts in lines 2, 3, …, so many to a request. */
  function plan(contacts: number, chunkSize: number, subAccount?: string): Promise<string> {
    const envelope = anEnvelope({ Message: 'Hello', ...(subAccount && { SubAccount: subAccount }) });
    return planContacts(
      opened.ledger,
      aRun({ chunkSize }),
      Array.from({ length: contacts }, (_, index) => aContact(index + 2, { envelope })),
    );
  }

  function suppress(lines: readonly number[], changes: Partial<Suppression> = {}): Promise<number> {
    const others = { reason: '', source: 'operator', createdAt: new Date() } as const;
    return addSuppressions(
      opened.ledger.pool,
      lines.map((line) => {
        return { channel: 'sms', address: addressOf(line), subAccount: '', ...others, ...changes };
      }),
    );
  }

  function claimAll(run: string, limit = 10) {
    return claimRequests(opened.ledger.pool, { run, owner: mine, limit, now: new Date() });
  }

  const claimedAddresses = (requests: readonly ClaimedRequest[]) =>
    requests.map(({ destinations }) => addressesOf(destinations));

  async function giveBack({ request, attempt }: ClaimedRequest, run: string): Promise<void> {
    const released = { request, attempt, finishedAt: new Date(), httpStatus: null, detail: null };
    await settleRequests(opened.ledger.pool, run, mine, [
      { ...released, state: 'planned', verdict: 'released' },
    ]);
  }

  async function countsOf(run: string) {
    const summary = await summariseRun(opened.ledger.pool, run);
    return { requests: summary?.requests, recipients: summary?.recipients };
  }

  test('are not among the destinations, and the others of the chunk are', async () => {
    const run = await plan(5, 3);
    await suppress([3, 6]);
    const { claimed, cancelled } = await claimAll(run);
    expect(claimedAddresses(claimed)).toEqual([[addressOf(2), addressOf(4)], [addressOf(5)]]);
    expect(cancelled).toEqual([]);
    expect(await countsOf(run)).toMatchObject({
      requests: { total: 2, sending: 2, cancelled: 0 },
      recipients: { total: 5, pending: 3, cancelled: 2 },
    });
    expect(await listCancellations(opened.ledger.pool, run)).toEqual([
      { reason: { kind: 'suppressed' }, recipients: 2 },
    ]);
  });

  test('are looked for in the channel of the run alone', async () => {
    const run = await plan(1, 1);
    await suppress([2], { channel: 'fax' });
    expect(claimedAddresses((await claimAll(run)).claimed)).toEqual([[addressOf(2)]]);
  });

  test.each([
    ['of the SubAccount', 'ACME', 'ACME', []],
    ['of all SubAccounts', 'ACME', '', []],
    ['without a SubAccount, suppressed for all', undefined, '', []],
    ['of another SubAccount', 'ACME', 'acme', [2]],
    ['without a SubAccount, suppressed for one', undefined, 'ACME', [2]],
  ])('are those %s', async (_, sent, suppressed, left) => {
    const run = await plan(2, 2, sent);
    await suppress([2], { subAccount: suppressed });
    expect(claimedAddresses((await claimAll(run)).claimed)).toEqual([[...left, 3].map(addressOf)]);
  });

  test('for one SubAccount and for all at once are left out once', async () => {
    const run = await plan(2, 2, 'ACME');
    await suppress([2]);
    await suppress([2], { subAccount: 'ACME' });
    expect(claimedAddresses((await claimAll(run)).claimed)).toEqual([[addressOf(3)]]);
    expect(await countsOf(run)).toMatchObject({ recipients: { total: 2, pending: 1, cancelled: 1 } });
  });

  test('make a request cancelled when nobody is left of it, without an attempt', async () => {
    const run = await plan(4, 2);
    await suppress([2, 3]);
    const { claimed, cancelled } = await claimAll(run);
    expect(cancelled).toEqual([{ request: 1, recipients: 2 }]);
    expect(claimed.map(({ request }) => request)).toEqual([2]);
    expect(await attemptsOf(run)).toMatchObject([{ request: 2 }]);
    expect(await countsOf(run)).toMatchObject({
      requests: { total: 2, sending: 1, cancelled: 1 },
      recipients: { total: 4, pending: 2, cancelled: 2 },
    });
  });

  test('may be a whole batch, after those who are not, and the caller learns that it is not the end', async () => {
    const run = await plan(5, 1);
    await suppress([2, 3, 5]);
    expect((await claimAll(run, 2)).claimed).toMatchObject([{ request: 3 }, { request: 5 }]);
    expect(await claimAll(run, 2)).toMatchObject({
      claimed: [],
      cancelled: [
        { request: 1, recipients: 1 },
        { request: 2, recipients: 1 },
      ],
    });
    expect(await claimAll(run, 2)).toMatchObject({ claimed: [], cancelled: [{ request: 4, recipients: 1 }] });
    expect(await claimAll(run, 2)).toMatchObject({ claimed: [], cancelled: [] });
  });

  test('stay in a chunk that was attempted before: every attempt carries the same bytes', async () => {
    const run = await plan(3, 3);
    await suppress([2]);
    const first = (await claimAll(run)).claimed;
    for (const request of first) await giveBack(request, run);
    await suppress([3]);
    const second = (await claimAll(run)).claimed;
    expect(claimedAddresses(second)).toEqual(claimedAddresses(first));
    expect(second).toMatchObject([{ attempt: 2, messageId: first[0]?.messageId }]);
    expect(await countsOf(run)).toMatchObject({ recipients: { total: 3, pending: 2, cancelled: 1 } });
  });

  test('cancel an attempted request that was given back when nobody is left of it', async () => {
    const run = await plan(3, 3);
    await suppress([2]);
    for (const request of (await claimAll(run)).claimed) await giveBack(request, run);
    await suppress([3, 4]);
    expect(await claimAll(run)).toMatchObject({ claimed: [], cancelled: [{ request: 1, recipients: 3 }] });
    expect(await attemptsOf(run)).toMatchObject([{ attempt: 1, verdict: 'released' }]);
    expect(await countsOf(run)).toMatchObject({
      requests: { total: 1, planned: 0, cancelled: 1 },
      recipients: { total: 3, pending: 0, cancelled: 3 },
    });
  });

  test('who are removed from the suppressions afterwards stay cancelled', async () => {
    const run = await plan(2, 2);
    await suppress([2]);
    for (const request of (await claimAll(run)).claimed) await giveBack(request, run);
    await opened.ledger.pool.query('DELETE FROM suppressions');
    expect(claimedAddresses((await claimAll(run)).claimed)).toEqual([[addressOf(3)]]);
  });

  test('are left out once, however many claims there are at a time', async () => {
    const run = await plan(60, 3);
    await suppress(Array.from({ length: 20 }, (_, index) => index * 3 + 2));
    const slice = await acquireSliceOf(opened.ledger, run);
    await createRequestRows(opened.ledger.pool, run);
    const sent = claimedAddresses(await claimTogether(slice, 10, 2)).flat();
    expect(sent.toSorted()).toEqual(
      Array.from({ length: 60 }, (_, index) => index + 2)
        .filter((line) => line % 3 !== 2)
        .map(addressOf),
    );
    expect(await countsOf(run)).toMatchObject({ recipients: { total: 60, pending: 40, cancelled: 20 } });
  });

  test.each([
    ['accepted', { accepted: 2, unknown: 0 }],
    ['in_doubt', { accepted: 0, unknown: 2 }],
    ['rejected', { accepted: 0, unknown: 0 }],
  ] as const)('are no part of what a request that is %s comes to', async (state, billed) => {
    const run = await plan(3, 3);
    await suppress([4]);
    const { claimed } = await claimAll(run);
    await settleRequests(
      opened.ledger.pool,
      run,
      mine,
      claimed.map((request) => ({ ...accepted(request), state, detail: 'words' })),
    );
    expect((await billingOf(opened.ledger.pool, [run])).total).toMatchObject({
      recipients: 2,
      ...billed,
    });
    const recipients = (await summariseRun(opened.ledger.pool, run))?.recipients;
    expect(recipients).toMatchObject({
      total: 3,
      cancelled: 1,
      [state === 'in_doubt' ? 'unknown' : state]: 2,
    });
    expect(await listDeliveryResults(opened.ledger.pool, run)).toEqual([]);
    expect(await listFailures(opened.ledger.pool, run)).toEqual(
      state === 'accepted' ? [] : [{ state, reason: 'words', requests: 1, recipients: 2 }],
    );
  });
});

test('requests of a cancelled run are cancelled also when rows are to be given to what is planned of it', async () => {
  const { pool } = opened.ledger;
  const run = await planContacts(
    opened.ledger,
    aRun({ chunkSize: 1 }),
    [1, 2, 3].map((line) => aContact(line)),
  );
  await cancelRun(await opened.ledger.queue(), pool, run, 'wrong list', new Date());
  await createRequestRows(pool, run);
  const { rows } = await pool.query('SELECT DISTINCT state FROM request_states WHERE run_id = $1', [run]);
  expect(rows).toEqual([{ state: 'cancelled' }]);
});
