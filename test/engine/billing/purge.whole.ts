import { beforeEach, describe, expect, test, vi } from 'vitest';
import { previewPurge, purge } from '../../../src/engine/billing/purge.ts';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { reportContacts } from '../../../src/engine/reporting/contact-report.ts';
import { searchRecipient } from '../../../src/engine/reporting/recipient-report.ts';
import { resolveDoubts } from '../../../src/engine/runs/resolve-doubts.ts';
import { listFailureGroups } from '../../../src/ledger/counts/groups.ts';
import { storeFailed } from '../../../src/ledger/delivery-reports/apply-batch.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { formatPurgeHold } from '../../../src/report/purge-hold.ts';
import { formatReasonsOf, formatRecipientHistory } from '../../../src/report/recipient-history.ts';
import { searchSentences } from '../../../src/report/search-words.ts';
import { anAccount } from '../../support/account.ts';
import { deleteRuns } from '../../support/empty-ledger.ts';
import {
  completeRun,
  dumpOf,
  findTexts,
  limit,
  planOldRun,
  plantedTexts,
  withKey,
} from '../../support/purges.ts';
import { createAllRequestRows, createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const opened = testLedger();
beforeEach(async () => {
  await deleteRuns(opened.ledger.pool);
  await opened.ledger.pool.query(`
    DELETE FROM recipient_outcomes; DELETE FROM folded_outcomes; DELETE FROM folded_reports; DELETE FROM attempts; DELETE FROM billing_changes; DELETE FROM billing_outcomes; DELETE FROM billing_reopened_requests;
    DELETE FROM suppressions; DELETE FROM removed_suppressions; DELETE FROM hashed_suppressions; DELETE FROM hash_key;
    DELETE FROM ticks; DELETE FROM inbox_blocks; DELETE FROM inbox_waiting; DELETE FROM unusual_delivery_reports;
  `);
});

const purgeNow = (changes: Partial<typeof limit> = {}) =>
  purge(withKey(opened), { ...limit, ...changes }, () => undefined);
const query = async (sql: string) => (await opened.ledger.pool.query(sql)).rows;
const ofReports = 'SELECT state, message_id, outcome, units, price FROM delivery_reports ORDER BY report_id';
const ofRequests =
  'SELECT request, message_id, state, attempts, recipients, updated_at FROM request_states ORDER BY request';
const ofAttempts =
  'SELECT request, started_at, finished_at, verdict, http_status FROM all_attempts ORDER BY 1, 2';

test('after a purge no table contains contacts, messages, files or delivery reports, though it did before', async () => {
  await planOldRun(opened);
  // They are compressed, so their content cannot be searched.
  expect(await query('SELECT FROM contact_file_pieces')).toHaveLength(1);
  expect(await query('SELECT FROM fingerprints')).toHaveLength(1);
  expect(findTexts(await dumpOf(opened.ledger.pool))).toEqual(plantedTexts);
  expect(await purgeNow()).toEqual({
    runs: 1,
    recipients: 3,
    unreported: 0,
    reports: 5,
    suppressions: 1,
    held: [],
  });
  expect(findTexts(await dumpOf(opened.ledger.pool))).toEqual([]);
  expect(await query('SELECT FROM contact_file_pieces')).toEqual([]);
  expect(await query('SELECT FROM fingerprints')).toEqual([]);
  expect(await query('SELECT FROM inbox_calls')).toEqual([]);
});

test('a purge keeps what was counted, sent, reported and charged', async () => {
  const run = await planOldRun(opened);
  const readCounts = async () => [
    await summariseRun(opened.ledger.pool, run),
    ...(await Promise.all([ofReports, ofRequests, ofAttempts].map(query))),
    await query(
      'SELECT request, position, outcome, units, price, reported_at FROM all_recipient_outcomes ORDER BY 1',
    ),
    await query(
      'SELECT request, sub_account, department, charge_code FROM request_states JOIN envelopes USING (run_id, envelope) ORDER BY request',
    ),
    await query('SELECT line, column_name, reason FROM rejected_contacts ORDER BY line'),
    (await listFailureGroups(opened.ledger.pool, run)).map(({ state, recipients }) => [state, recipients]),
  ];
  const before = await readCounts();
  await purgeNow();
  expect(await readCounts()).toEqual(before);
});

test('a second purge finds nothing to erase', async () => {
  await planOldRun(opened);
  await purgeNow();
  const before = await dumpOf(opened.ledger.pool);
  expect(await purgeNow()).toEqual({
    runs: 0,
    recipients: 0,
    unreported: 0,
    reports: 0,
    suppressions: 0,
    held: [],
  });
  expect(await dumpOf(opened.ledger.pool)).toBe(before);
});

test('a preview has the same counts and erases nothing', async () => {
  await planOldRun(opened);
  const expected = await previewPurge(opened.context, limit);
  expect(findTexts(await dumpOf(opened.ledger.pool))).toEqual(plantedTexts);
  expect(await purgeNow()).toEqual(expected);
});

test('the next purge continues one whose process was killed', async () => {
  const run = await planOldRun(opened);
  await query(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'power cut'; END $$;
    CREATE TRIGGER broken BEFORE UPDATE ON envelopes FOR EACH STATEMENT EXECUTE FUNCTION broken()`);
  try {
    await expect(purgeNow()).rejects.toThrow('power cut');
  } finally {
    await query('DROP TRIGGER broken ON envelopes; DROP FUNCTION broken');
  }
  expect(findTexts(await dumpOf(opened.ledger.pool))).toContain('quagmire');
  // The interrupted run already counts as purged.
  expect(
    await problemsRejected(() => reportContacts(opened.context, run, async () => undefined)),
  ).toHaveLength(1);
  await purgeNow();
  expect(findTexts(await dumpOf(opened.ledger.pool))).toEqual([]);
});

describe('purge keeps a run', () => {
  const held = async () => (await purgeNow()).held.map(formatPurgeHold);
  const change = (sql: string) => query(sql);

  test('a run that ended later is kept', async () => {
    await planOldRun(opened);
    await change(`UPDATE runs SET finished_at = '2025-02-01'`);
    expect(await purgeNow()).toMatchObject({ runs: 0, held: [] });
    expect(findTexts(await dumpOf(opened.ledger.pool))).toContain('quagmire');
  });

  test('a run that has not ended is kept', async () => {
    await planOldRun(opened);
    await change(`UPDATE runs SET state = 'paused', finished_at = NULL, created_at = '2025-01-01'`);
    expect(await held()).toEqual(['it is paused']);
  });

  test('a run with requests in doubt is kept, unless the operator includes those', async () => {
    await planOldRun(opened);
    await createAllRequestRows(opened.ledger.pool);
    await change(`UPDATE requests SET state = 'in_doubt' WHERE request = 1`);
    expect(await held()).toEqual(['some of its requests are in doubt']);
    expect(findTexts(await dumpOf(opened.ledger.pool))).toContain('quagmire');
    expect(await purgeNow({ alsoInDoubt: true })).toMatchObject({ runs: 1, held: [] });
  });

  test('a run that is not completely booked is kept', async () => {
    await planOldRun(opened);
    const client = await opened.ledger.pool.connect();
    // Another process is booking.
    await client.query('BEGIN; SELECT pg_advisory_xact_lock(4190733815)');
    expect(await held()).toEqual(['it is not completely booked yet; try again']);
    await client.query('ROLLBACK');
    client.release();
  });

  test('a run with a younger rerun is kept with its delivery reports', async () => {
    const run = await planOldRun(opened);
    const rerun = await planRerun(opened.context, {
      of: run,
      states: ['rejected'],
      account: anAccount({ rates: [] }),
    });
    expect(await held()).toEqual(['a later rerun depends on it']);
    expect((await query('SELECT FROM inbox_calls')).length).toBe(3);
    await createRequestRows(opened.ledger.pool, rerun);
    await completeRun(opened.ledger.pool, rerun);
    await change(`UPDATE requests SET state = 'cancelled' WHERE state = 'planned'`);
    expect(await purgeNow()).toMatchObject({ runs: 2, held: [] });
  });
});

describe('a purged run', () => {
  test('applying delivery reports restores nothing that a purge erases meanwhile', async () => {
    const { pool } = opened.ledger;
    await planOldRun(opened);
    const charged = () => query('SELECT outcome, units, price FROM all_recipient_outcomes ORDER BY 1, 2, 3');
    const before = await charged();
    expect(before.length).toBeGreaterThan(0);
    const all = await query(
      'SELECT report_id::text AS report, account, received_at AS "receivedAt" FROM delivery_reports',
    );
    await purgeNow();
    await inTransaction(pool, (client) =>
      storeFailed(
        client,
        all.map((report) => ({ ...report, code: '22008' })),
      ),
    );
    expect(await charged()).toEqual(before);
  });

  test('requests for contacts say that they were purged, and when', async () => {
    const run = await planOldRun(opened);
    await purgeNow();
    const [problem] = await problemsRejected(() =>
      reportContacts(opened.context, run, async () => undefined),
    );
    expect(problem).toMatch(/^run .*: It was purged at 20\d\d-.*Z: its contacts and messages are erased/);
  });

  test('a recipient is found by its MessageID only', async () => {
    await planOldRun(opened);
    const [{ message_id: messageId }] = await query(
      'SELECT message_id FROM request_states WHERE request = 1',
    );
    await purgeNow();
    const { histories } = await searchRecipient(opened.context, messageId, { limit: 10 });
    const [history] = histories;
    expect(history).toMatchObject({ address: '', state: 'delivered', price: '0.05', subAccount: 'North' });
    expect(history && formatRecipientHistory(formatReasonsOf(history))).toMatch(
      /purged +20\d\d-.*; address, message and words/,
    );
    const found = await searchRecipient(opened.context, '+61412345671', { limit: 10, wordsTime: 1_000 });
    expect(found).toMatchObject({ histories: [], searched: { since: null, purged: 1 } });
    expect(searchSentences(found, 'UTC')).toContainEqual(
      expect.stringMatching(/^Purges have erased the recipients of 1 run, the last time at 20/),
    );
  });

  test('reruns and resent requests are refused', async () => {
    const run = await planOldRun(opened);
    await createRequestRows(opened.ledger.pool, run);
    await query(`UPDATE requests SET state = 'in_doubt' WHERE request = 1`);
    await purgeNow({ alsoInDoubt: true });
    const again = planRerun(opened.context, {
      of: run,
      states: ['rejected'],
      account: anAccount({ rates: [] }),
    });
    expect(await problemsRejected(() => again)).toHaveLength(1);
    const word = { by: 'ann', reason: 'seen' };
    const resend = () =>
      resolveDoubts(opened.context, { run, named: undefined }, { ...word, resolution: 'resend' });
    expect(await problemsRejected(resend)).toHaveLength(1);
    const accepted = { ...word, resolution: 'accepted' } as const;
    expect(await resolveDoubts(opened.context, { run, named: undefined }, accepted)).toHaveLength(1);
  });
});

test('a purge without the hash key is refused', async () => {
  await planOldRun(opened);
  expect(await problemsRejected(() => purge(opened.context, limit, () => undefined))).toHaveLength(1);
  expect(findTexts(await dumpOf(opened.ledger.pool))).toEqual(plantedTexts);
});

test('a purge of two runs waits once for a transaction that stays open', async () => {
  const { pool } = opened.ledger;
  await planOldRun(opened);
  // A repetition would be refused.
  await pool.query('DELETE FROM fingerprints');
  await planOldRun(opened);
  const writer = await pool.connect();
  await writer.query('BEGIN; SELECT pg_current_xact_id()');
  const asked = vi.spyOn(pool, 'query');
  const { runs } = await purge(withKey(opened), limit, () => undefined, 1_000);
  const looks = asked.mock.calls.filter(([text]) => String(text).includes('AS unfinished'));
  asked.mockRestore();
  await writer.query('ROLLBACK');
  writer.release();
  expect(runs).toBe(2);
  // Ten times in the second, and once for the other run.
  expect(looks).toHaveLength(12);
});

test('a purge deletes what recognises repeated calls, as the upkeep of the inbox does', async () => {
  await query(`INSERT INTO inbox_batches (batch, received_at) VALUES (gen_random_uuid(), '2025-01-02')`);
  await query(
    `INSERT INTO signed_calls (account, digest, received_at) VALUES ('sandbox', 'x', '2025-01-02')`,
  );
  await purgeNow();
  expect(await query('SELECT FROM inbox_batches')).toEqual([]);
  expect(await query('SELECT FROM signed_calls')).toEqual([]);
});
