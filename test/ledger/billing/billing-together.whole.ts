import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { recount } from '../../support/billing-recount.ts';
import { beginnings, steps } from '../../support/billing-steps.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

/** Ends the session that is booking, if there is one. */
const cutBooking = () =>
  opened.ledger.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%INSERT INTO billing_entries%'
       AND state = 'active'`,
  );

test('several processes that book at once, and are interrupted, lose nothing and count nothing twice', async () => {
  const [histories = []] = fc.sample(fc.array(steps, { minLength: 16, maxLength: 16 }), {
    numRuns: 1,
    seed: 7,
  });
  const [begin = ''] = fc.sample(beginnings, { numRuns: 1, seed: 7 });
  const world = await createWorld(opened.ledger, begin);
  const { pool } = opened.ledger;
  let over = false;
  let cuts = 0;
  const booking = Array.from({ length: 3 }, async () => {
    while (!over) await bookPending(pool).catch(() => cuts++);
  });
  const cutting = (async () => {
    while (!over) {
      await cutBooking();
      await sleep(15);
    }
  })();
  try {
    for (const history of histories) for (const step of history) await performNextStep(world, step);
  } finally {
    over = true;
    await Promise.all([...booking, cutting]);
  }
  const { lines } = await inTransaction(pool, (client) =>
    reportBilling(client, { ...allBilling, by: ['run'] }),
  );
  const counted = await recount(pool, 'UTC');
  const sum = (run: string, figure: 'accepted' | 'unknown' | 'delivered' | 'requests'): number =>
    counted.reduce((all, { values, figures }) => all + (values.run === run ? figures[figure] : 0), 0);
  expect(lines.length).toBeGreaterThan(2);
  for (const { values, accepted, unknown, delivered, requests } of lines) {
    const run = values[0] ?? '';
    expect({ run, accepted, unknown, delivered, requests }).toEqual({
      run,
      accepted: sum(run, 'accepted'),
      unknown: sum(run, 'unknown'),
      delivered: sum(run, 'delivered'),
      requests: sum(run, 'requests'),
    });
  }
  expect(cuts).toBeGreaterThan(0);
});
