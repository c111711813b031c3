import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { type AccountBreaker, createAccountBreaker } from '../../../src/engine/dispatch/account-breaker.ts';
import { anAccount } from '../../support/account.ts';
import { testLedger } from '../../support/test-ledger.ts';

const refusal = { reason: 'HTTP 503', requestedWait: undefined, probeId: undefined };
const opened = testLedger();
beforeEach(async () => {
  await opened.ledger.pool.query('DELETE FROM account_breakers');
});

const createBreaker = (): AccountBreaker => createAccountBreaker(opened.context, anAccount());

async function refuseAll(): Promise<void> {
  await opened.ledger.pool.query(
    `INSERT INTO account_breakers (account, opened_at, retry_at, refusals, reason) VALUES ($1, now(), now(), 1, 'HTTP 503')`,
    [anAccount().name],
  );
}

async function findBreaker(): Promise<{ refusals: number; probe: string | null; until: Date } | undefined> {
  const sql = 'SELECT refusals, probe, probe_until AS until FROM account_breakers';
  return (await opened.ledger.pool.query(sql)).rows[0];
}

const endLease = () =>
  opened.ledger.pool.query(`UPDATE account_breakers SET probe_until = now() - interval '1 second'`);

test('a worker that lost its right to probe sends nothing and leaves the other probe alone', async () => {
  const [first, second] = [createBreaker(), createBreaker()];
  const [early, late] = [randomUUID(), randomUUID()];
  await refuseAll();
  expect(await first.enter(early)).toBe('probe');
  expect(await second.enter(randomUUID())).toBeTypeOf('number');
  await endLease();
  expect(await createBreaker().enter(late)).toBe('probe');
  expect(await first.extendProbe(early)).toBe(false);
  await first.releaseProbe(early);
  expect(await findBreaker()).toMatchObject({ probe: late });
});

test('the claim of a probe renews the time for its answer', async () => {
  const breaker = createBreaker();
  const probe = randomUUID();
  await refuseAll();
  expect(await breaker.enter(probe)).toBe('probe');
  const before = (await findBreaker())?.until ?? 0;
  // The clock has milliseconds.
  await sleep(2);
  expect(await breaker.extendProbe(probe)).toBe(true);
  expect(Number((await findBreaker())?.until)).toBeGreaterThan(Number(before));
  await breaker.releaseProbe(probe);
  expect(await breaker.enter(randomUUID())).toBe('probe');
});

test('a repeated question with the same probe id has the same answer', async () => {
  const breaker = createBreaker();
  const probeId = randomUUID();
  await refuseAll();
  expect(await breaker.enter(probeId)).toBe('probe');
  await breaker.refresh();
  expect(await breaker.enter(probeId)).toBe('probe');
  for (const _ of [1, 2]) expect(await breaker.extendProbe(probeId)).toBe(true);
  for (const _ of [1, 2]) await breaker.recordRefusal({ ...refusal, probeId });
  expect(await findBreaker()).toMatchObject({ refusals: 2, probe: null });
});

test('two slices of one process do not share the right to probe', async () => {
  const breaker = createBreaker();
  const [first, second] = [randomUUID(), randomUUID()];
  await refuseAll();
  expect(await breaker.enter(first)).toBe('probe');
  await endLease();
  await breaker.refresh();
  expect(await breaker.enter(second)).toBe('probe');
  expect(await breaker.extendProbe(first)).toBe(false);
  await breaker.closeAfterProbe(first);
  await breaker.releaseProbe(first);
  expect(await findBreaker()).toMatchObject({ probe: second });
});

test('the late refusal of an expired probe does not open a breaker that another worker has closed', async () => {
  const [first, second] = [createBreaker(), createBreaker()];
  const [early, late] = [randomUUID(), randomUUID()];
  await refuseAll();
  expect(await first.enter(early)).toBe('probe');
  await endLease();
  expect(await second.enter(late)).toBe('probe');
  await second.closeAfterProbe(late);
  await first.recordRefusal({ ...refusal, probeId: early });
  expect(await findBreaker()).toBeUndefined();
  expect(await first.enter(randomUUID())).toBe('all');
});
