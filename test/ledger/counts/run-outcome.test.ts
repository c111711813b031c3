import { expect, test } from 'vitest';
import { readRunCounts } from '../../../src/ledger/counts/run-counts.ts';
import { readFormerRuns } from '../../../src/ledger/counts/run-outcome.ts';
import { listRuns } from '../../../src/ledger/runs/find.ts';
import { countAccepted } from '../../../src/report/run/run-outcome.ts';
import { acceptAll } from '../../support/accept-all.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

type Former = { readonly account?: string; readonly completed?: boolean; readonly delivered: number };

/** A run of four accepted recipients, some of them delivered. */
async function send({ account = 'sandbox', completed = true, delivered }: Former): Promise<string> {
  const { pool } = opened.ledger;
  const contacts = [2, 3, 4, 5].map((line) => aContact(line));
  const run = await planContacts(opened.ledger, aRun({ account, campaign: 'night', chunkSize: 1 }), contacts);
  await acceptAll(pool, run);
  await pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at)
     SELECT $1, request, 1, 'delivered', now() FROM generate_series(1, $2::integer) request`,
    [run, delivered],
  );
  if (completed)
    await pool.query(`UPDATE runs SET state = 'completed', finished_at = now() WHERE run_id = $1`, [run]);
  return run;
}

test('a run is compared with the completed runs of its campaign and account before it', async () => {
  const first = await send({ delivered: 1 });
  await send({ delivered: 4, account: 'other' });
  await send({ delivered: 4, completed: false });
  await send({ delivered: 3 });
  const last = await send({ delivered: 2 });
  await send({ delivered: 4 });
  const { pool, knex } = opened.ledger;
  expect(await readFormerRuns(pool, first)).toEqual({ runs: 0, accepted: 0, delivered: 0 });
  expect(await readFormerRuns(pool, last)).toEqual({ runs: 2, accepted: 8, delivered: 4 });
  const listed = await listRuns(knex, 10, { runs: [first, last] });
  expect(listed.map(({ outcome }) => outcome)).toEqual([
    { accepted: 4, delivered: 2, unknown: 0 },
    { accepted: 4, delivered: 1, unknown: 0 },
  ]);
});

test('a list of runs counts delivery reports of requests that are not accepted as the page of the run does', async () => {
  const { pool, knex } = opened.ledger;
  const contacts = [2, 3, 4].map((line) => aContact(line));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  await createRequestRows(pool, run);
  await pool.query(
    `UPDATE requests
     SET state = (ARRAY['accepted', 'in_doubt', 'cancelled'])[request], attempts = CASE request WHEN 3 THEN 0 ELSE 1 END
     WHERE run_id = $1`,
    [run],
  );
  await pool.query('INSERT INTO early_proofs (run_id, request) VALUES ($1, 2), ($1, 3)', [run]);
  await pool.query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at)
     VALUES ($1, 2, 1, 'delivered', now()), ($1, 3, 1, 'delivered', now())`,
    [run],
  );
  const recipients = (await readRunCounts(pool, [run])).get(run)?.recipients;
  const [listed] = await listRuns(knex, 1, { runs: [run] });
  expect(recipients).toMatchObject({ accepted: 1, delivered: 1, unknown: 0, cancelled: 1 });
  expect(listed?.outcome).toEqual({
    accepted: recipients && countAccepted(recipients),
    delivered: 1,
    unknown: 0,
  });
});
