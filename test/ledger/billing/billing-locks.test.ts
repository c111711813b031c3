import { beforeEach, expect, test, vi } from 'vitest';
import { bookEverything, bookPending } from '../../../src/ledger/billing/book.ts';
import { moveOutcomesToLastAttempt } from '../../../src/ledger/billing/changes.ts';
import { closePeriod } from '../../../src/ledger/billing/close.ts';
import { resolveRequests } from '../../../src/ledger/requests/resolve.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { billingOf } from '../../support/billing.ts';
import type { BillingStep } from '../../support/billing-steps.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;

const now = new Date('2026-11-05T00:00:00Z');

/** A sent run of several slices, two of which have requests in doubt. */
beforeEach(async () => {
  const { ledger } = opened;
  await createWorld(ledger, now.toISOString());
  const contacts = Array.from({ length: 4_100 }, (_, index) => aContact(index + 2));
  run = await planContacts(ledger, aRun({ chunkSize: 1, createdAt: now }), contacts);
  await createRequestRows(ledger.pool, run);
  await ledger.pool.query(
    `
    WITH tried AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict)
      SELECT run_id, request, 1, gen_random_uuid(), $2, $2, 'accepted' FROM requests WHERE run_id = $1
    ), claimed AS (
      UPDATE runs SET state = 'running' WHERE run_id = $1
    )
    UPDATE requests
    SET attempts = 1, state = CASE WHEN request IN (1, 4099) THEN 'in_doubt' ELSE 'accepted' END
    WHERE run_id = $1
    `,
    [run, now],
  );
});

const resolve = (client: Parameters<typeof resolveRequests>[0], request: number) =>
  resolveRequests(client, {
    run,
    requests: [request],
    resolution: 'accepted',
    by: 'ann',
    reason: 'seen',
    now,
  });

const figures = async () => {
  const { total } = await billingOf(opened.ledger.pool, [run]);
  return { requests: total?.requests, accepted: total?.accepted, unknown: total?.unknown };
};

test('closing a month never waits for transactions that change requests, and loses none of their changes', async () => {
  const { pool } = opened.ledger;
  await inTransaction(pool, async (client) => {
    await resolve(client, 4_099);
    const later = new Date('2026-12-05T00:00:00Z');
    const closing = closePeriod(pool, { period: '2026-11', timeZone: 'UTC', closedBy: 'ann' }, later);
    expect(await closing).toMatchObject({ kind: 'closed' });
    await resolve(client, 1);
  });
  expect(await figures()).toEqual({ requests: 4_100, accepted: 4_100, unknown: 0 });
  while (await bookPending(pool));
  expect(await figures()).toEqual({ requests: 4_100, accepted: 4_100, unknown: 0 });
});

test('changing requests never waits for booking, and booking loses none of the changes', async () => {
  const { pool } = opened.ledger;
  await inTransaction(pool, async (booking) => {
    await bookEverything(booking);
    await inTransaction(pool, async (client) => {
      await client.query("SET LOCAL lock_timeout = '1s'");
      await resolve(client, 1);
      await resolve(client, 4_099);
    });
  });
  expect(await figures()).toEqual({ requests: 4_100, accepted: 4_100, unknown: 0 });
  while (await bookPending(pool));
  expect(await figures()).toEqual({ requests: 4_100, accepted: 4_100, unknown: 0 });
});

test('booking does not wait for a retry that moves outcomes, which may want what booking has locked', async () => {
  const { ledger } = opened;
  const { pool } = ledger;
  const world = await createWorld(ledger, now.toISOString());
  const outcome = { outcome: 'delivered', units: '1', price: '0.1' } as const;
  const steps: readonly BillingStep[] = [
    { kind: 'plan', channel: 'sms', payers: [{}], contacts: 2, chunkSize: 1, rates: null },
    { kind: 'send', run: 0, requests: 2, ends: ['lost', 'lost'] },
    { kind: 'retry', run: 0 },
    { kind: 'report', reports: [{ recipient: 0, ...outcome }] },
    { kind: 'report', reports: [{ recipient: 1, ...outcome }] },
  ];
  for (const step of steps) await performNextStep(world, step);
  const [retried = ''] = world.runs;
  const changes = async () => (await pool.query('SELECT DISTINCT request FROM billing_changes')).rows.length;
  expect(await changes()).toBe(2);
  const moveTo = (request: number) => [{ run: retried, request, attempt: 3 }];
  let booking: Promise<boolean> | undefined;
  await inTransaction(pool, async (retry) => {
    await moveOutcomesToLastAttempt(retry, moveTo(2));
    booking = bookPending(pool);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const isWaiting = async () => ((await pool.query(waiting)).rowCount ?? 0) > 0;
    await vi.waitFor(async () => expect((await isWaiting()) || (await changes()) === 1).toBe(true));
    await moveOutcomesToLastAttempt(retry, moveTo(1));
  });
  await booking;
});
