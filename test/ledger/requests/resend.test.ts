import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { InputError } from '../../../src/domain/problems.ts';
import { resolveDoubts } from '../../../src/engine/runs/resolve-doubts.ts';
import { resendDoubts, resolveRequests } from '../../../src/ledger/requests/resolve.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { cancelRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { addSuppressions } from '../../../src/ledger/suppressions/add.ts';
import { type ClaimedRequest, claimRequests, type Settlement, settleRequests } from '../../support/claims.ts';
import { planRunInDoubt } from '../../support/run-in-doubt.ts';
import { acquireSliceOf, finishHeld } from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';

/** A resent request may have arrived the first time, and no later event proves the opposite. */

const opened = testLedger();

const owner = randomUUID();
const now = new Date();

/** A paused run of one request, which waits for a resend. */
async function runToResend(): Promise<string> {
  const run = await planRunInDoubt(opened.ledger);
  const decision = { resolution: 'resend', by: 'ann', reason: 'test', now } as const;
  await inTransaction(opened.ledger.pool, (client) =>
    resolveRequests(client, { run, requests: 'all', ...decision }),
  );
  return run;
}

async function claim(run: string): Promise<readonly ClaimedRequest[]> {
  await opened.ledger.pool.query(`UPDATE runs SET state = 'running' WHERE run_id = $1`, [run]);
  return (await claimRequests(opened.ledger.pool, { run, owner, limit: 10, now })).claimed;
}

async function settle(run: string, state: 'accepted' | 'rejected' | 'failed' | 'in_doubt'): Promise<void> {
  const [request] = await claim(run);
  if (!request) throw new Error('nothing was claimed');
  const attempt = { request: 1, attempt: request.attempt, finishedAt: now, httpStatus: 400, detail: 'words' };
  const settlement: Settlement = state === 'rejected' ? { ...attempt, state } : { ...attempt, state };
  await settleRequests(opened.ledger.pool, run, owner, [settlement]);
}

async function requestOf(run: string) {
  const sql = 'SELECT state, reason FROM request_states WHERE run_id = $1';
  return (await opened.ledger.pool.query(sql, [run])).rows[0];
}

test('neither the campaign nor an operator can resend requests of a run that is being cancelled', async () => {
  const { ledger, context } = opened;
  const run = await runToResend();
  await settle(run, 'in_doubt');
  await ledger.pool.query(
    `INSERT INTO slices (run_id, slice, phase, state, job, worker, owner)
     VALUES ($1, 2, 'settling doubts', 'held', $2, $2, $2)`,
    [run, owner],
  );
  const [byCampaign, byOperator] = await inTransaction(ledger.pool, async (client) => {
    await client.query(`UPDATE runs SET state = 'cancelled' WHERE run_id = $1`, [run]);
    const decision = { resolution: 'resend', by: 'ann', reason: 'test' } as const;
    const started = [
      resendDoubts(ledger.pool, { run, owner, resends: 9 }, now),
      resolveDoubts(context, { run, named: undefined }, decision).catch((error: unknown) => error),
    ] as const;
    await ledger.pool.query('SELECT pg_sleep(0.2)');
    return started.map((each) => [each]);
  });
  expect(await byCampaign?.[0]).toBe(0);
  expect(await byOperator?.[0]).toBeInstanceOf(InputError);
  expect(await requestOf(run)).toMatchObject({ state: 'in_doubt' });
});

test.each(['rejected', 'failed'] as const)(
  'a resent request that is %s is in doubt, with a reason that says so',
  async (state) => {
    const run = await runToResend();
    await settle(run, state);
    expect(await requestOf(run)).toEqual({
      state: 'in_doubt',
      reason: { kind: 'resent', state, words: 'words' },
    });
    expect((await summariseRun(opened.ledger.pool, run))?.recipients).toMatchObject({ total: 2, unknown: 2 });
  },
);

test.each(['accepted', 'in_doubt'] as const)(
  'a resent request that is %s keeps that state',
  async (state) => {
    const run = await runToResend();
    await settle(run, state);
    expect(await requestOf(run)).toEqual({ state, reason: 'words' });
  },
);

test('a request whose recipients are all suppressed before its resend is in doubt, not cancelled', async () => {
  const run = await runToResend();
  const { rows } = await opened.ledger.pool.query<{ address: string }>(
    'SELECT address FROM recipient_states WHERE run_id = $1',
    [run],
  );
  await addSuppressions(
    opened.ledger.pool,
    rows.map(({ address }) => {
      return {
        channel: 'sms',
        address,
        subAccount: '',
        reason: '',
        source: 'operator',
        createdAt: now,
      } as const;
    }),
  );
  expect(await claim(run)).toEqual([]);
  await opened.ledger.pool.query('DELETE FROM suppressions');
  expect(await requestOf(run)).toEqual({
    state: 'in_doubt',
    reason: { kind: 'all_suppressed_before_resend' },
  });
  expect((await summariseRun(opened.ledger.pool, run))?.recipients).toMatchObject({
    unknown: 2,
    cancelled: 0,
  });
});

test('a request whose run is cancelled before its resend is in doubt, not cancelled', async () => {
  const run = await runToResend();
  await cancelRun(await opened.ledger.queue(), opened.ledger.pool, run, { reason: 'by ann', now });
  expect(await requestOf(run)).toEqual({
    state: 'in_doubt',
    reason: { kind: 'run_cancelled_before_resend' },
  });
});

test('a request whose run is cancelled while its slice is held is in doubt, not cancelled', async () => {
  const run = await runToResend();
  const slice = await acquireSliceOf(opened.ledger, run);
  await opened.ledger.pool.query(`UPDATE runs SET state = 'cancelled' WHERE run_id = $1`, [run]);
  await finishHeld(opened.ledger, slice);
  expect(await requestOf(run)).toMatchObject({ state: 'in_doubt' });
});
