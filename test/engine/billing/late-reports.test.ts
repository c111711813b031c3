import { beforeEach, expect, test } from 'vitest';
import { purge } from '../../../src/engine/billing/purge.ts';
import { applyInbox } from '../../../src/engine/delivery-reports/apply-inbox.ts';
import { erasePerson } from '../../../src/engine/recipient-data/erase-person.ts';
import { requeueDeliveryReports } from '../../../src/ledger/delivery-reports/queue.ts';
import { billingOf } from '../../support/billing.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { deleteRuns } from '../../support/empty-ledger.ts';
import { expectCountsKept } from '../../support/expect-counts.ts';
import { foldAll } from '../../support/fold-outcomes.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import {
  completeRun,
  dumpOf,
  findTexts,
  limit,
  longAgo,
  receiveOldReports,
  withKey,
} from '../../support/purges.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const owner = '00000000-0000-4000-8000-000000000001';

type Report = Readonly<Record<string, string | undefined>>;

/** Accepted requests for 50 recipients of each of two payers, each with a message of its own where the chunk is 1. */
async function sentRun(chunkSize = 50): Promise<Report[]> {
  const { ledger } = opened;
  const contacts = Array.from({ length: 100 }, (_, index) =>
    aContact(index + 2, {
      envelope: anEnvelope({
        Message: chunkSize === 1 ? `Hello ${index}` : 'Hello',
        SubAccount: index < 50 ? 'North' : 'South',
        ChargeCode: 'C1',
      }),
    }),
  );
  run = await planContacts(ledger, aRun({ chunkSize }), contacts);
  const { claimed } = await claimRequests(ledger.pool, { run, owner, limit: 100, now: longAgo });
  const ended = { attempt: 1, finishedAt: longAgo, httpStatus: 200, detail: null };
  await settleRequests(
    ledger.pool,
    run,
    owner,
    claimed.map(({ request }) => ({ ...ended, request, state: 'accepted', jobNumber: `J${request}` })),
  );
  await completeRun(ledger.pool, run);
  const { rows } = await ledger.pool.query<{ request: number; messageId: string; address: string }>(
    'SELECT request, message_id AS "messageId", address FROM recipient_states WHERE run_id = $1 ORDER BY line',
    [run],
  );
  return rows.map(({ request, messageId, address }, index) => ({
    Type: 'SMS',
    // Some services name the job number alone.
    ...(index % 2 === 0 ? { MessageID: messageId } : { JobNumber: `J${request}` }),
    Destination: address,
    Status: 'Success',
    Result: 'delivered to Zebedee',
    Price: '0.05',
    Detail: 'SMSParts:1',
  }));
}

let run: string;
const total = async (subAccount?: string) => {
  const { lines } = await billingOf(opened.ledger.pool, [run], ['SubAccount']);
  return lines.find(({ values }) => values[0] === subAccount);
};

beforeEach(async () => {
  await deleteRuns(opened.ledger.pool);
  await opened.ledger.pool.query('DELETE FROM hashed_suppressions; DELETE FROM hash_key');
});

test('delivery reports that come after their run was purged are billed to its payers once, without the recipients', async () => {
  const reports = await sentRun();
  await receiveOldReports(opened, reports.slice(0, 10));
  const erased = await purge(withKey(opened), limit, () => undefined);
  expect(erased).toMatchObject({ runs: 1, recipients: 100, unreported: 90 });

  await receiveOldReports(opened, reports.slice(10));
  expect(await total('North')).toMatchObject({ accepted: 50, delivered: 50, price: '2.50', smsParts: '50' });
  expect(await total('South')).toMatchObject({ accepted: 50, delivered: 50, price: '2.50', smsParts: '50' });

  // A service repeats its reports, and an operator replays them.
  await receiveOldReports(opened, reports);
  await requeueDeliveryReports(opened.ledger.pool, { all: true }, longAgo);
  await applyInbox(opened.context);
  expect(await total('North')).toMatchObject({ delivered: 50, price: '2.50' });
  expect(await total('South')).toMatchObject({ delivered: 50, price: '2.50' });

  const { rows } = await opened.ledger.pool.query<{ reports: number }>(
    'SELECT count(*)::integer AS reports FROM unusual_delivery_reports WHERE address IS NOT NULL OR result IS NOT NULL',
  );
  expect(rows).toEqual([{ reports: 0 }]);
  await purge(withKey(opened), limit, () => undefined);
  expect(findTexts(await dumpOf(opened.ledger.pool), ['zebedee', '+614', '0400 00'])).toEqual([]);
});

test('the report of a person who was erased before the purge is still billed to the payer', async () => {
  const [first, ...others] = await sentRun();
  await erasePerson(withKey(opened), first?.['Destination'] ?? '', 'asked');
  await purge(withKey(opened), limit, () => undefined);

  await receiveOldReports(opened, first ? [first] : []);
  expect(await total('North')).toMatchObject({ delivered: 1, price: '0.05' });
  await receiveOldReports(opened, others);
  expect(await total('North')).toMatchObject({ delivered: 50, price: '2.50' });
});

test('a purge keeps only one block for neighbouring requests, one envelope for each payer, and job numbers that a report may name', async () => {
  const { pool } = opened.ledger;
  const reports = await sentRun(1);
  const read = async (sql: string) => (await pool.query(sql)).rows;
  const payers = `SELECT request, sub_account FROM request_states JOIN envelopes USING (run_id, envelope) ORDER BY request`;
  const before = await read(payers);
  await receiveOldReports(opened, reports.slice(0, 99));
  await purge(withKey(opened), limit, () => undefined);

  expect(await read('SELECT count(*)::integer AS blocks FROM contents')).toEqual([{ blocks: 1 }]);
  expect(await read(`SELECT sub_account FROM envelopes WHERE run_id = '${run}' ORDER BY envelope`)).toEqual([
    { sub_account: 'North' },
    { sub_account: 'South' },
  ]);
  expect(await read(payers)).toEqual(before);
  expect(await read(`SELECT request FROM job_numbers WHERE run_id = '${run}'`)).toEqual([{ request: 100 }]);
  await receiveOldReports(opened, reports.slice(99));
  expect(await total('North')).toMatchObject({ accepted: 50, delivered: 50, price: '2.50' });
  expect(await total('South')).toMatchObject({ accepted: 50, delivered: 50, price: '2.50' });
});

test('the words that a purge of Volley 0.3.0 left in blocks are erased by the next purge, once', async () => {
  const { pool } = opened.ledger;
  await receiveOldReports(opened, await sentRun());
  await foldAll(pool);
  const purgedRuns = async () => (await purge(withKey(opened), limit, () => undefined)).runs;
  await pool.query('UPDATE runs SET purged_at = now()');
  expect(findTexts(await dumpOf(pool), ['zebedee'])).toEqual(['zebedee']);
  expect(await purgedRuns()).toBe(1);
  expect(findTexts(await dumpOf(pool), ['zebedee'])).toEqual([]);
  await expectCountsKept(pool, run);
  expect(await purgedRuns()).toBe(0);
});

test('a purge is audited even if the space cannot be given back', async () => {
  await sentRun();
  const { pool } = opened.ledger;
  // Its index can no longer be rebuilt.
  await pool.query(`
    CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 2 * n; END';
    CREATE TABLE doubled AS SELECT generate_series(1, 20000) AS n;
    CREATE INDEX ON doubled (twice(n));
    DELETE FROM doubled WHERE n > 9;
    CREATE OR REPLACE FUNCTION twice(n integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE
      AS 'BEGIN RAISE disk_full USING MESSAGE = ''the disk is full''; END';
  `);
  await expect(purge(withKey(opened), limit, () => undefined)).rejects.toThrow('the disk is full');
  await pool.query('DROP TABLE doubled; DROP FUNCTION twice');
  const { rows } = await pool.query(
    `SELECT run_id, details -> 'runs' AS runs FROM audit WHERE action = 'purged' ORDER BY entry DESC LIMIT 1`,
  );
  expect(rows).toEqual([{ run_id: null, runs: 1 }]);
});
