import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { applyDeliveryReports } from '../../../src/ledger/delivery-reports/apply-batch.ts';
import { receiveDeliveryReports } from '../../../src/ledger/delivery-reports/receive.ts';
import { acceptAll } from '../../support/accept-all.ts';
import { type ReportedDelivery, readReport } from '../../support/billing-reports.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

async function apply(said: readonly Pick<ReportedDelivery, 'messageId' | 'address' | 'outcome'>[]) {
  const { pool } = opened.ledger;
  const call = {
    account: 'sandbox',
    method: 'POST',
    contentType: 'test',
    headers: {},
    receivedAt: new Date(),
  } as const;
  const calls = said.map((each) => ({
    ...call,
    body: Buffer.from(JSON.stringify({ units: null, price: null, ...each })),
  }));
  await receiveDeliveryReports(pool, randomUUID(), calls);
  while ((await applyDeliveryReports(pool, { limit: 500, parse: readReport, now: new Date() })) > 0);
}

/** Rows of recipient_outcomes that Postgres has read so far. */
async function outcomesRead(): Promise<number> {
  const { pool } = opened.ledger;
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ read: number }>(
    `SELECT CAST(seq_tup_read + coalesce(idx_tup_fetch, 0) AS integer) AS read
     FROM pg_stat_user_tables WHERE relname = 'recipient_outcomes'`,
  );
  return rows[0]?.read ?? Number.NaN;
}

test('a second delivery report of a recipient is applied without reading the reports of others', async () => {
  const { pool } = opened.ledger;
  const contacts = Array.from({ length: 3_000 }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 200 }), contacts);
  await acceptAll(pool, run);
  const { rows } = await pool.query<{ messageId: string; address: string }>(
    `SELECT message_id AS "messageId", address FROM recipient_states WHERE run_id = $1 ORDER BY position`,
    [run],
  );
  expect(rows).toHaveLength(3_000);
  await apply(rows.map((recipient) => ({ ...recipient, outcome: 'delivered' })));
  await pool.query('ANALYZE');
  const before = await outcomesRead();
  await apply(rows.slice(0, 5).map((recipient) => ({ ...recipient, outcome: 'undelivered' })));
  const { rows: kept } = await pool.query('SELECT FROM unusual_delivery_reports');
  expect(kept).toHaveLength(10);
  expect((await outcomesRead()) - before).toBeLessThan(500);
});
