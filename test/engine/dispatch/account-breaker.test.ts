import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAccountBreaker } from '../../../src/engine/dispatch/account-breaker.ts';
import { anAccount } from '../../support/account.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

test('a worker that waited for the rate so long that another one tries sends nothing, and leaves that one alone', async () => {
  const { pool } = opened.ledger;
  const [first, second] = [1, 2].map(() => openAccountBreaker(opened.context, anAccount()));
  await pool.query(
    `INSERT INTO account_breakers (account, opened_at, retry_at, tries, reason) VALUES ($1, now(), now(), 1, 'HTTP 503')`,
    [anAccount().name],
  );
  expect(await first?.enter()).toBe('probe');
  expect(await second?.enter()).toBeTypeOf('number');
  await pool.query(`UPDATE account_breakers SET probe_until = now() - interval '1 second'`);
  expect(await openAccountBreaker(opened.context, anAccount()).enter()).toBe('probe');
  expect(await first?.mayStillProbe()).toBe(false);
  await first?.notTried();
  expect(await second?.enter()).toBeTypeOf('number');
});

test('a worker that claims in time may try for as long as an answer may take, from then on', async () => {
  const { pool } = opened.ledger;
  const account = anAccount({ name: 'other' });
  const breaker = openAccountBreaker(opened.context, account);
  await pool.query(
    `INSERT INTO account_breakers (account, opened_at, retry_at, tries, reason) VALUES ('other', now(), now(), 1, 'HTTP 503')`,
  );
  expect(await breaker.enter()).toBe('probe');
  const until = async () => {
    const sql = `SELECT probe_until FROM account_breakers WHERE account = 'other'`;
    return (await pool.query<{ probe_until: Date }>(sql)).rows[0]?.probe_until.getTime() ?? 0;
  };
  const before = await until();
  expect(await breaker.mayStillProbe()).toBe(true);
  expect(await until()).toBeGreaterThan(before);
  await breaker.notTried();
  expect(await breaker.enter()).toBe('probe');
});
