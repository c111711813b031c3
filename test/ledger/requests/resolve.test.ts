import { describe, expect, test } from 'vitest';
import type { Resolution } from '../../../src/domain/runs.ts';
import { listFailureGroups } from '../../../src/ledger/counts/groups.ts';
import { type Doubt, findRequests, listDoubts } from '../../../src/ledger/requests/list-failed.ts';
import { acceptLookedUp, resolveRequests } from '../../../src/ledger/requests/resolve.ts';
import { streamContactResults } from '../../../src/ledger/runs/contact-results.ts';
import { listResolutions, summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { billingOf } from '../../support/billing.ts';
import { collectBatches } from '../../support/collect.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const now = new Date('2026-11-21T10:00:00Z');

async function resolve(run: string, resolution: Resolution, requests: readonly number[] | 'all' = 'all') {
  const decision = { resolution, by: 'ann@office', reason: 'seen in the portal', now };
  return inTransaction(opened.ledger.pool, (client) =>
    resolveRequests(client, { run, requests, ...decision }),
  );
}

async function query(sql: string, values: readonly unknown[]) {
  return (await opened.ledger.pool.query(sql, [...values])).rows;
}

const requestsOf = (run: string) =>
  query(
    'SELECT request, state, reason, attempts, resends FROM request_states WHERE run_id = $1 ORDER BY request',
    [run],
  );
const slicesOf = (run: string) =>
  query('SELECT slice, state FROM slices WHERE run_id = $1 ORDER BY slice', [run]);
const runOf = async (run: string) =>
  (await query('SELECT state, state_reason, finished_at FROM runs WHERE run_id = $1', [run]))[0];

const resolvedBy = (resolution: string) => {
  return { kind: 'resolved', resolution, by: 'ann@office', words: 'seen in the portal' };
};

describe('resolveRequests', () => {
  test.each([
    ['accepted', 'accepted', 0],
    ['resend', 'planned', 1],
    ['abandon', 'abandoned', 0],
  ] as const)(
    'by %s makes a request %s and stores operator and reason',
    async (resolution, state, resends) => {
      const run = await planRunInDoubt(opened.ledger, { requests: 2 });
      expect(await resolve(run, resolution, [2])).toEqual([{ request: 2, recipients: 2 }]);
      expect(await requestsOf(run)).toEqual([
        { request: 1, state: 'in_doubt', reason: 'no answer within 30000 ms', attempts: 1, resends: 0 },
        { request: 2, state, reason: resolvedBy(resolution), attempts: 1, resends },
      ]);
      expect(await query('SELECT * FROM resolutions WHERE run_id = $1', [run])).toEqual([
        {
          run_id: run,
          request: 2,
          resolved_at: now,
          resolution,
          resolved_by: 'ann@office',
          reason: 'seen in the portal',
        },
      ]);
    },
  );

  test('changes only requests in doubt, even if others are named', async () => {
    const states = ['planned', 'accepted', 'rejected', 'failed', 'cancelled', 'abandoned'];
    const run = await planRunInDoubt(opened.ledger, { requests: 7 });
    for (const [index, state] of states.entries()) {
      await query('UPDATE requests SET state = $3 WHERE run_id = $1 AND request = $2', [
        run,
        index + 1,
        state,
      ]);
    }
    const before = await requestsOf(run);
    expect(await resolve(run, 'accepted', [1, 2, 3, 4, 5, 6, 99])).toEqual([]);
    expect(await requestsOf(run)).toEqual(before);
    expect(await resolve(run, 'accepted')).toEqual([{ request: 7, recipients: 2 }]);
  });

  test('does not count suppressed recipients, which stay cancelled', async () => {
    const run = await planRunInDoubt(opened.ledger, { suppressed: [2] });
    expect(await resolve(run, 'abandon')).toEqual([{ request: 1, recipients: 1 }]);
    expect((await summariseRun(opened.ledger.pool, run))?.recipients).toMatchObject({
      total: 2,
      unknown: 1,
      cancelled: 1,
    });
  });

  test('resolves a request again that comes into doubt again, and stores both resolutions', async () => {
    const run = await planRunInDoubt(opened.ledger);
    await resolve(run, 'resend');
    await query(`UPDATE requests SET state = 'in_doubt' WHERE run_id = $1`, [run]);
    now.setSeconds(now.getSeconds() + 1);
    await resolve(run, 'resend');
    expect(await requestsOf(run)).toMatchObject([{ state: 'planned', resends: 2 }]);
    expect(await listResolutions(opened.ledger.pool, run)).toEqual([
      { resolution: 'resend', by: 'ann@office', reason: 'seen in the portal', requests: 2, at: now },
    ]);
  });

  test('resolves a request once if several operators resolve it at the same time', async () => {
    const run = await planRunInDoubt(opened.ledger, { requests: 3 });
    const resolved = await Promise.all([
      resolve(run, 'accepted'),
      resolve(run, 'abandon'),
      resolve(run, 'resend'),
    ]);
    expect(resolved.map(({ length }) => length).toSorted()).toEqual([0, 0, 3]);
  });

  test('a look-up that finds a request accepts it once and names no operator', async () => {
    const run = await planRunInDoubt(opened.ledger);
    const proven = { run, request: 1, now };
    expect(await acceptLookedUp(opened.ledger.pool, proven)).toBe(true);
    expect(await acceptLookedUp(opened.ledger.pool, proven)).toBe(false);
    expect(await requestsOf(run)).toMatchObject([{ state: 'accepted', reason: { kind: 'looked_up' } }]);
    expect(await listResolutions(opened.ledger.pool, run)).toEqual([]);
  });
});

describe('resolving by resend', () => {
  test('reopens the slices of the requests and pauses a completed run with a reason that says what to do', async () => {
    const run = await planRunInDoubt(opened.ledger, { requests: 6, sliceSize: 2 });
    await resolve(run, 'resend', [3, 4, 6]);
    expect(await slicesOf(run)).toEqual([
      { slice: 1, state: 'done' },
      { slice: 2, state: 'waiting' },
      { slice: 3, state: 'waiting' },
    ]);
    expect(await runOf(run)).toEqual({
      state: 'paused',
      state_reason: { kind: 'doubts_reopened', run },
      finished_at: null,
    });
  });

  test('leaves a held slice and a running run as they are', async () => {
    const run = await planRunInDoubt(opened.ledger, { runState: 'running', requests: 2, sliceSize: 1 });
    const held = '00000000-0000-4000-8000-000000000001';
    await query(
      `UPDATE slices SET state = 'held', job = $2, worker = $2, owner = $2 WHERE run_id = $1 AND slice = 1`,
      [run, held],
    );
    await resolve(run, 'resend');
    expect(await slicesOf(run)).toEqual([
      { slice: 1, state: 'held' },
      { slice: 2, state: 'waiting' },
    ]);
    expect(await runOf(run)).toMatchObject({ state: 'running' });
  });

  test('changes nothing in a cancelled run, which no worker would send', async () => {
    const run = await planRunInDoubt(opened.ledger, { runState: 'cancelled' });
    expect(await resolve(run, 'resend')).toEqual([]);
    expect(await requestsOf(run)).toMatchObject([{ state: 'in_doubt', resends: 0 }]);
    expect(await resolve(run, 'abandon')).toHaveLength(1);
  });

  test('does not reopen the phase that settles doubts', async () => {
    const run = await planRunInDoubt(opened.ledger);
    await query(
      `INSERT INTO slices (run_id, slice, phase, state) VALUES ($1, 2, 'settling doubts', 'done')`,
      [run],
    );
    await resolve(run, 'resend');
    expect(await slicesOf(run)).toMatchObject([
      { slice: 1, state: 'waiting' },
      { slice: 2, state: 'done' },
    ]);
  });

  test.each(['accepted', 'abandon'] as const)(
    'does not happen for %s: the run stays completed',
    async (resolution) => {
      const run = await planRunInDoubt(opened.ledger);
      await resolve(run, resolution);
      expect(await slicesOf(run)).toMatchObject([{ slice: 1, state: 'done' }]);
      expect(await runOf(run)).toMatchObject({ state: 'completed' });
    },
  );
});

test('requests in doubt are listed with their MessageID, recipients, time, reason and attempts', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 3, suppressed: [1] });
  const pages = (requests: readonly number[] | 'all'): Promise<Doubt[]> =>
    collectBatches(listDoubts(opened.ledger.pool, run, requests));
  const [first] = await pages('all');
  expect(first).toEqual({
    request: 1,
    messageId: expect.stringMatching(/^[0-9a-f]{36}$/),
    recipients: 1,
    since: expect.any(Date),
    reason: 'no answer within 30000 ms',
    attempts: 1,
  });
  expect((await pages('all')).map(({ request }) => request)).toEqual([1, 2, 3]);
  expect((await pages([3, 99])).map(({ request }) => request)).toEqual([3]);
  expect(await findRequests(opened.ledger.pool, run, [2, 1, 99])).toMatchObject([
    { request: 1 },
    { request: 2 },
  ]);
});

test('all pages of requests in doubt are listed, even if each is resolved before the next', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 2_001 });
  const seen: number[] = [];
  for await (const page of listDoubts(opened.ledger.pool, run, 'all')) {
    seen.push(...page.map(({ request }) => request));
    await resolve(
      run,
      'accepted',
      page.map(({ request }) => request),
    );
  }
  expect(seen).toEqual(Array.from({ length: 2_001 }, (_, index) => index + 1));
});

test('failures and results show the reason of a resolution, and the bill counts its recipients', async () => {
  const run = await planRunInDoubt(opened.ledger, { requests: 2 });
  await resolve(run, 'accepted', [1]);
  await resolve(run, 'abandon', [2]);
  expect(await listFailureGroups(opened.ledger.pool, run)).toMatchObject([
    {
      state: 'abandoned',
      reason: resolvedBy('abandon'),
      requests: 1,
      recipients: 2,
    },
  ]);
  expect((await billingOf(opened.ledger.pool, [run])).total).toMatchObject({ accepted: 2, unknown: 2 });
  const results = await inTransaction(opened.ledger.pool, async (client) => {
    const rows = await collectBatches(streamContactResults(client, run));
    return rows.map(({ state, reason }) => [state, reason]);
  });
  expect(results).toEqual([
    ['accepted', resolvedBy('accepted')],
    ['accepted', resolvedBy('accepted')],
    ['unknown', resolvedBy('abandon')],
    ['unknown', resolvedBy('abandon')],
  ]);
});
