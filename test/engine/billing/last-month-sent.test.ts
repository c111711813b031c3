import { expect, test } from 'vitest';
import { findLastMonthSent } from '../../../src/engine/billing/billing.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

async function addEntries(run: string, sql: string): Promise<void> {
  const add = `INSERT INTO billing_entries (run_id, slice, sent, booked, requests) SELECT $1, 1, at, at, 1 FROM ${sql} at`;
  await opened.ledger.pool.query(add, [run]);
}

async function entriesRead(): Promise<number> {
  await opened.ledger.pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await opened.ledger.pool.query<{ read: number }>(`
    SELECT seq_tup_read + idx_tup_fetch + (
      SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'billing_entries'
    ) AS read
    FROM pg_stat_user_tables
    WHERE relname = 'billing_entries'
  `);
  return Number(rows[0]?.read);
}

test('the last month in which anything was sent is found in the zone of the person, without reading the whole report', async () => {
  const { context } = opened;
  const asked = { until: '2026-11-01', timeZone: 'Pacific/Auckland' };
  expect(await findLastMonthSent(context, asked)).toBeUndefined();
  const run = await planContacts(opened.ledger, aRun(), [aContact(2)]);
  // In Auckland, it is November already.
  await addEntries(run, `CAST('2026-10-31 11:00Z' AS timestamptz)`);
  expect(await findLastMonthSent(context, asked)).toBeUndefined();
  const many = `generate_series(CAST('2026-01-01Z' AS timestamptz), '2026-08-31 11:45Z', '15 minutes')`;
  await addEntries(run, many);
  const before = await entriesRead();
  expect(await findLastMonthSent(context, asked)).toBe('2026-08');
  expect((await entriesRead()) - before).toBeLessThan(100);
  expect(await findLastMonthSent(context, { ...asked, until: '2026-08-01' })).toBe('2026-07');
});
