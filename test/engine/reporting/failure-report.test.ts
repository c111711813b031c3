import { expect, test } from 'vitest';
import { reportFailures } from '../../../src/engine/reporting/streamed-reports.ts';
import { streamFailedRequests } from '../../../src/ledger/requests/list-failed.ts';
import { failureSheet } from '../../../src/report/lists/failures.ts';
import { claimRequests, settleRequests } from '../../support/claims.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { written } from '../../support/sheets.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const opened = testLedger();

const owner = '00000000-0000-4000-8000-000000000001';
const now = new Date('2026-11-21T10:00:00Z');
const later = new Date('2026-11-21T10:00:07Z');

/** Requests of two recipients each: one accepted, one for each kind of failure, and one planned. */
async function failedRun(): Promise<string> {
  const { pool } = opened.ledger;
  const envelope = anEnvelope({ Message: 'Hello', SubAccount: 'North', ChargeCode: 'C1' });
  const contacts = Array.from({ length: 12 }, (_, index) => aContact(index + 1, { envelope }));
  const run = await planContacts(opened.ledger, aRun(), contacts);
  await claimRequests(pool, { run, owner, limit: 5, now });
  const outcome = { attempt: 1, finishedAt: later };
  await settleRequests(pool, run, owner, [
    { ...outcome, request: 1, state: 'accepted', httpStatus: 200, detail: null },
    { ...outcome, request: 2, state: 'rejected', httpStatus: 400, detail: 'No such SubAccount' },
    { ...outcome, request: 3, state: 'failed', httpStatus: null, detail: 'connection refused' },
    { ...outcome, request: 4, state: 'in_doubt', httpStatus: 500, detail: 'Internal Server Error' },
    { ...outcome, request: 5, state: 'in_doubt', httpStatus: null, detail: 'no answer' },
  ]);
  await pool.query(`UPDATE requests SET state = 'abandoned' WHERE run_id = $1 AND request = 5`, [run]);
  return run;
}

async function failures(run: string) {
  return reportFailures(opened.context, run, async (report) => {
    return JSON.parse((await written(failureSheet(report), 'json')).toString());
  });
}

test("every request that was not accepted has a line with the service's words", async () => {
  const run = await failedRun();
  const { rows } = await failures(run);
  const common = { firstAt: now.toISOString(), lastAt: later.toISOString(), attempts: 1, recipients: 2 };
  expect(rows).toMatchObject([
    { ...common, request: 2, state: 'rejected', httpStatus: 400, reason: 'No such SubAccount' },
    { ...common, request: 3, state: 'failed', httpStatus: null, reason: 'connection refused' },
    { ...common, request: 4, state: 'in_doubt', httpStatus: 500, reason: 'Internal Server Error' },
    { ...common, request: 5, state: 'abandoned', httpStatus: null },
  ]);
  expect(rows[0]).toMatchObject({
    messageId: expect.stringMatching(/^[0-9A-Za-z]{1,40}$/),
    subAccount: 'North',
    department: null,
    chargeCode: 'C1',
  });
});

test('the status comes from the last answered attempt, and the times from the first and the last', async () => {
  const run = await failedRun();
  await opened.ledger.pool.query(
    `INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, http_status)
     SELECT $1, 3, attempt, $2, now.at, now.at + interval '1 s', 'retry', status
     FROM (VALUES (2, 503), (3, 429), (4, NULL)) AS more (attempt, status),
          LATERAL (SELECT timestamptz '2026-11-21T11:00:00Z' + attempt * interval '1 min' AS at) now`,
    [run, owner],
  );
  const { rows } = await failures(run);
  expect(rows[1]).toMatchObject({
    httpStatus: 429,
    firstAt: now.toISOString(),
    lastAt: '2026-11-21T11:04:01.000Z',
  });
});

test('recipients excluded from a request do not count, and the total covers all requests', async () => {
  const run = await failedRun();
  await opened.ledger.pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at) VALUES ($1, 4, 2, 'cancelled', now())`,
    [run],
  );
  const { rows, totals } = await failures(run);
  expect(rows.map(({ recipients }: { recipients: number }) => recipients)).toEqual([2, 2, 1, 2]);
  expect(totals).toMatchObject([
    { messageId: 'Total', state: '4 requests', attempts: 4, recipients: 7, request: null },
  ]);
});

test('a list of several pages has each request once, in order', async () => {
  const run = await failedRun();
  const pages = [];
  for await (const page of streamFailedRequests(opened.ledger.pool, run, 2))
    pages.push(page.map(({ request }) => request));
  expect(pages).toEqual([
    [2, 3],
    [4, 5],
  ]);
});

test('a missing run is an input error', async () => {
  expect(await problemsRejected(() => failures('none'))).toEqual([
    'run none: There is no such run; `volley runs` lists them.',
  ]);
});
