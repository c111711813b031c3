import { beforeEach, describe, expect, test } from 'vitest';
import { bookBilling, closeMonth } from '../../../src/engine/billing/billing.ts';
import { purge } from '../../../src/engine/billing/purge.ts';
import { applyRetention, previewRetention } from '../../../src/engine/billing/retention.ts';
import { applyInbox } from '../../../src/engine/delivery-reports/apply-inbox.ts';
import { checkCounts } from '../../../src/engine/doctor/work.ts';
import { listFailureGroups } from '../../../src/ledger/counts/groups.ts';
import { beginDeletingRecords } from '../../../src/ledger/purge/delete-records.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { openTestLedger, type TestLedger } from '../../support/ledger.ts';
import { limit, longAgo, planOldRun, receiveOldReports, withKey } from '../../support/purges.ts';
import { createAllRequestRows } from '../../support/request-rows.ts';

let opened: TestLedger;
beforeEach(async () => {
  opened = await openTestLedger();
  return () => opened.close();
});

const query = async (sql: string) => (await opened.ledger.pool.query(sql)).rows;
const purgeNow = () => purge(withKey(opened), { ...limit, alsoInDoubt: true }, () => undefined);
const closeMonthOfRun = () =>
  closeMonth(opened.context, { month: '2025-01', timeZone: 'UTC', closedBy: 'ann' });
const retention = { recordsBefore: new Date('2025-02-01T00:00:00Z'), auditBefore: undefined };
const deleteNow = () => applyRetention(opened.context, retention);

const rowsOf = async () => {
  const tables = [
    'contents',
    'envelopes',
    'folded_outcomes',
    'rejected_contacts',
    'unusual_delivery_reports',
    'job_numbers',
    'ticks',
  ];
  const counts = await Promise.all(tables.map((table) => query(`SELECT count(*)::integer FROM ${table}`)));
  return Object.fromEntries(tables.map((table, index) => [table, counts[index]?.[0]?.count]));
};

test('the records of a purged run go, and its counts, requests, failures and bookings stay', async () => {
  const run = await planOldRun(opened);
  await query(`INSERT INTO job_numbers VALUES ('7', 'sandbox', '${run}', 1, '2025-01-02')`);
  await purgeNow();
  await closeMonthOfRun();
  const kept = async () => [
    await summariseRun(opened.ledger.pool, run),
    await query('SELECT request, state, attempts, recipients FROM requests ORDER BY request'),
    await query('SELECT * FROM billing_entries ORDER BY slice, sub_account'),
    (await listFailureGroups(opened.ledger.pool, run)).map(({ state, recipients }) => [state, recipients]),
    await query('SELECT state, changed_at FROM run_states ORDER BY change'),
  ];
  const before = await kept();
  expect(Object.values(await rowsOf())).not.toContain(0);
  expect(await previewRetention(opened.context, retention)).toEqual({
    runs: 1,
    held: [],
    auditEntries: 0,
    reports: 0,
    heldReports: [],
  });
  expect(await deleteNow()).toEqual({ runs: 1, held: [], auditEntries: 0, reports: 0, heldReports: [] });
  expect(new Set(Object.values(await rowsOf()))).toEqual(new Set([0]));
  expect(await kept()).toEqual(before);
  expect(await checkCounts(opened.ledger.pool, () => new Date())).toMatchObject({ state: 'ok' });
  expect(await query(`SELECT details ->> 'runs' AS runs FROM audit WHERE subject = 'old records'`)).toEqual([
    { runs: '1' },
  ]);
  expect(await deleteNow()).toEqual({ runs: 0, held: [], auditEntries: 0, reports: 0, heldReports: [] });
});

test('a delivery report that comes after that belongs to no request, and is kept and named', async () => {
  await planOldRun(opened);
  const [{ message_id: messageId }] = await query('SELECT message_id FROM request_states WHERE request = 2');
  await purgeNow();
  await closeMonthOfRun();
  await deleteNow();
  const booked = () => query('SELECT * FROM billing_entries ORDER BY slice, sub_account');
  const before = await booked();
  const late = {
    Type: 'SMS',
    MessageID: messageId,
    Destination: '+61412345672',
    Status: 'Success',
    Price: '9',
  };
  await receiveOldReports(opened, [late]);
  for (const minutes of [10, 100, 1_000, 10_000])
    await applyInbox({ ...opened.context, now: () => new Date(longAgo.getTime() + minutes * 60_000) });
  await bookBilling(opened.context);
  expect(await query('SELECT state, message_id FROM delivery_reports')).toEqual([
    { state: 'unmatched', message_id: messageId },
  ]);
  expect(await booked()).toEqual(before);
  expect(await query('SELECT held_at FROM ledger_location')).toEqual([{ held_at: null }]);
  expect(await query('SELECT FROM untried_proofs')).toEqual([]);
});

describe('the records of a run are kept', () => {
  test('until the month is closed in which it is billed', async () => {
    const run = await planOldRun(opened);
    await purgeNow();
    expect(await deleteNow()).toMatchObject({ runs: 0, held: [{ run, held: 'open_month' }] });
    await closeMonthOfRun();
    expect(await deleteNow()).toMatchObject({ runs: 1, held: [] });
  });

  test('until it is purged', async () => {
    await planOldRun(opened);
    await bookBilling(opened.context);
    await closeMonthOfRun();
    expect(await deleteNow()).toMatchObject({ runs: 0, held: [] });
    expect(await rowsOf()).toMatchObject({ contents: 1 });
  });

  test('while a request is in doubt', async () => {
    const run = await planOldRun(opened);
    await createAllRequestRows(opened.ledger.pool);
    await query(`UPDATE requests SET state = 'in_doubt' WHERE request = 1`);
    await purgeNow();
    await closeMonthOfRun();
    expect(await deleteNow()).toMatchObject({ runs: 0, held: [{ run, held: 'in_doubt' }] });
  });

  test('until the next call, when the process was killed', async () => {
    await planOldRun(opened);
    await purgeNow();
    await closeMonthOfRun();
    await query(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'power cut'; END $$;
      CREATE TRIGGER broken BEFORE DELETE ON rejected_contacts FOR EACH STATEMENT EXECUTE FUNCTION broken()`);
    await expect(deleteNow()).rejects.toThrow('power cut');
    await query('DROP TRIGGER broken ON rejected_contacts; DROP FUNCTION broken');
    expect(await deleteNow()).toMatchObject({ runs: 1 });
    expect(new Set(Object.values(await rowsOf()))).toEqual(new Set([0]));
  });
});

test('audit entries of a year ago go, those of runs that go on stay, and the deletion is an entry of its own', async () => {
  const run = await planOldRun(opened);
  await query(`UPDATE runs SET state = 'paused', finished_at = NULL`);
  await query(`
    INSERT INTO audit (at, actor, via, action, run_id, details, outcome)
    SELECT now() - interval '2 years', 'ann', 'cli', 'run paused', id, '{}', 'done'
    FROM unnest(ARRAY['${run}', 'ended', NULL]) AS id
  `);
  const before = await query('SELECT entry FROM audit ORDER BY entry');
  const aYearAndMore = { recordsBefore: undefined, auditBefore: new Date(Date.now() - 400 * 86_400_000) };
  expect(await applyRetention(opened.context, aYearAndMore)).toMatchObject({ auditEntries: 2 });
  const after = await query('SELECT entry, action, run_id FROM audit ORDER BY entry');
  expect(after).toHaveLength(before.length - 1);
  expect(after.filter(({ action }) => action === 'run paused' || action === 'purged')).toEqual([
    { entry: expect.any(String), action: 'run paused', run_id: run },
    { entry: expect.any(String), action: 'purged', run_id: null },
  ]);
  const tooSoon = { recordsBefore: undefined, auditBefore: new Date(Date.now() - 300 * 86_400_000) };
  await expect(applyRetention(opened.context, tooSoon)).rejects.toThrow(
    'audit entries of the last year stay',
  );
  await expect(query('DELETE FROM audit')).rejects.toThrow('the audit trail is append-only');
});

test('a transaction that does not end keeps the records, and is named', async () => {
  const run = await planOldRun(opened);
  await purgeNow();
  await closeMonthOfRun();
  const { pool } = opened.ledger;
  const writer = await pool.connect();
  await writer.query("BEGIN; SET LOCAL application_name = 'old writer'");
  await writer.query('SELECT pg_current_xact_id()');
  try {
    await expect(beginDeletingRecords(pool, [run], new Date(), 200)).rejects.toThrow(/old writer since 2/);
  } finally {
    await writer.query('COMMIT');
    writer.release();
  }
  expect(await deleteNow()).toEqual({ runs: 1, held: [], auditEntries: 0, reports: 0, heldReports: [] });
});
