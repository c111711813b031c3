import { expect, test } from 'vitest';
import { sendAtRate } from '../support/rate.ts';
import { testLedger } from '../support/test-ledger.ts';
import { volleyInProcess } from '../support/volley.ts';

const opened = testLedger();

test('two processes together send no faster than the limits of the account', async () => {
  const { arrivals } = await sendAtRate(opened, { processes: 2, perSecond: 50, requests: 150 });
  const seconds = ((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)) / 1_000;
  // The first and last bursts have the requests of up to a tenth of a second. On a busy machine the first request
  // arrives late. Each at its own rate, the processes would need half the time.
  const late = 0.3;
  expect(seconds).toBeGreaterThanOrEqual((150 - 2 * 5) / 50 - late);
});

test("a database whose clock was an hour ahead still sends at the account's rate, and status shows the step", async () => {
  const { pool } = opened.ledger;
  await pool.query(`
    INSERT INTO rate_limits (account, requests_rate, requests_until, seen_at)
    VALUES ('sandbox', 50, now() + interval '1 hour', now() + interval '1 hour')
    ON CONFLICT (account) DO UPDATE
    SET requests_until = excluded.requests_until, seen_at = excluded.seen_at
  `);
  await sendAtRate(opened, { processes: 1, perSecond: 50, requests: 5 });
  const { rows } = await pool.query<{ run: string }>(
    'SELECT run_id AS run FROM runs ORDER BY created_at DESC LIMIT 1',
  );
  const { stdout } = await volleyInProcess(['status', rows[0]?.run ?? ''], {
    env: { DATABASE_URL: opened.url },
  });
  expect(stdout).toMatch(/^ {2}clock {7}the database's clock was set back by 35\d\d\.\d s at /m);
});
