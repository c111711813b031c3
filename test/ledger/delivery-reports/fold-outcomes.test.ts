import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { foldSettledOutcomes, startFolding } from '../../../src/engine/delivery-reports/fold-outcomes.ts';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { foldOutcomes, listUnfolded } from '../../../src/ledger/delivery-reports/fold-outcomes.ts';
import { requeueDeliveryReports } from '../../../src/ledger/delivery-reports/queue.ts';
import type { RawReport, ReportContent } from '../../../src/ledger/delivery-reports/report-content.ts';
import { eraseRun } from '../../../src/ledger/purge/erase-run.ts';
import { acceptAll } from '../../support/accept-all.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { expectCountsKept } from '../../support/expect-counts.ts';
import { foldAll } from '../../support/fold-outcomes.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { aDelivery, applyReadings, receiveReadings } from '../../support/readings.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
/** A fold gives up where it does not get a lock soon. No other session has this ledger. */
beforeAll(async () => {
  for (const table of ['recipient_outcomes', 'folded_outcomes', 'folded_reports'])
    await opened.ledger.pool.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
});
beforeEach(() => emptyLedger(opened.ledger.pool));

const query = async (sql: string, values: unknown[] = []) =>
  (await opened.ledger.pool.query(sql, values)).rows;

type Named = { readonly messageId: string; readonly address: string };

async function sendTo(recipients: number, chunkSize: number): Promise<[string, readonly Named[]]> {
  const contacts = Array.from({ length: recipients }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ account: 'sandbox', chunkSize }), contacts);
  await acceptAll(opened.ledger.pool, run);
  const { rows } = await opened.ledger.pool.query<Named>(
    'SELECT message_id AS "messageId", address FROM recipient_states WHERE run_id = $1 ORDER BY request, position',
    [run],
  );
  return [run, rows];
}

async function applyAll(): Promise<void> {
  while ((await applyReadings(opened.ledger.pool)) > 0);
}

const outcomes = () => query('SELECT * FROM all_recipient_outcomes ORDER BY run_id, request, position');
const singles = async () => (await query('SELECT FROM recipient_outcomes')).length;

test.each([1, 3, 200])(
  'folded outcomes of requests with %i recipients are read as before, and so are the counts and delivery reports',
  async (chunkSize) => {
    const { pool } = opened.ledger;
    const [run, named] = await sendTo(700, chunkSize);
    const words: readonly string[] = ['delivered', 'unknown subscriber', 'blocked', ''];
    const reports = named.flatMap((each, index) =>
      index % 9 === 4
        ? []
        : [
            aDelivery({
              ...each,
              outcome: index % 4 === 0 ? 'delivered' : 'undelivered',
              result: words[index % 4] ?? '',
              status: index % 5 === 0 ? 'Success' : 'Sent',
              sentAt: index % 3 === 0 ? null : new Date(Date.now() - index).toISOString(),
              units: ['1', '1.0', '2', null][index % 4] ?? null,
              price: index % 7 === 0 ? '0.080' : '0.08',
              jobNumber: index % 2 === 0 ? null : `AB${index}`,
            }),
          ],
    );
    await receiveReadings(pool, reports);
    await applyAll();
    const before = await outcomes();
    const shown = 'SELECT * FROM delivery_reports ORDER BY report_id';
    const states = 'SELECT * FROM recipient_states ORDER BY request, position';
    const [reportsBefore, statesBefore] = [await query(shown), await query(states)];
    expect(before).toHaveLength(reports.length);
    const counted = await query('SELECT * FROM run_counts ORDER BY counted, words, requests, recipients');

    expect(await foldAll(pool)).toBe(reports.length);
    expect(await singles()).toBe(0);
    expect(await outcomes()).toEqual(before);
    expect(await query(shown)).toEqual(reportsBefore);
    expect(await query(states)).toEqual(statesBefore);
    expect(await query('SELECT * FROM run_counts ORDER BY counted, words, requests, recipients')).toEqual(
      counted,
    );
    await expectCountsKept(pool, run);
    expect(await foldAll(pool)).toBe(0);

    await requeueDeliveryReports(pool, { all: true }, new Date());
    await applyAll();
    await foldAll(pool);
    const unworded = (rows: readonly Record<string, unknown>[]) =>
      rows.map(({ status: _, job_number: __, sent_at: ___, ...row }) => row);
    expect(unworded(await outcomes())).toEqual(unworded(before));
    await expectCountsKept(pool, run);
  },
);

/** Applies these, one after the other. */
async function report(...reports: Parameters<typeof aDelivery>[0][]): Promise<void> {
  for (const each of reports) {
    await receiveReadings(opened.ledger.pool, [aDelivery(each)]);
    await applyAll();
  }
}

const statesOf = (outcomesOf: string) =>
  query(`SELECT state FROM ${outcomesOf} ORDER BY report_id`).then((rows) => rows.map(({ state }) => state));

async function booked(): Promise<unknown> {
  while (await bookPending(opened.ledger.pool));
  const [sums] = await query(
    'SELECT sum(delivered)::integer AS delivered, sum(undelivered)::integer AS undelivered, sum(price)::text AS price FROM billing_entries',
  );
  return sums;
}

test('a report that is late, repeated, completed or contradicted after the fold counts as one before it', async () => {
  const { pool } = opened.ledger;
  const [run, named] = await sendTo(12, 3);
  await bookPending(pool);
  const [one, two, three, late] = named;
  await report({ ...one }, { ...two }, { ...three, outcome: 'undelivered', price: '0.05' });
  await foldAll(pool);
  await report(
    { ...one, price: '0.08' },
    { ...two, outcome: 'undelivered', price: '0.5' },
    { ...three, outcome: 'undelivered', price: '0.05' },
    { ...late, outcome: 'undelivered', price: '0.02' },
  );
  // The first report of a recipient is an ordinary one, although others of its slice are folded.
  expect(await statesOf('unusual_delivery_reports')).toEqual([
    'applied',
    'applied',
    'applied',
    'unchanged',
    'conflicting',
    'unchanged',
  ]);
  expect(await statesOf('delivery_reports')).toHaveLength(7);
  await foldAll(pool);
  expect(await singles()).toBe(0);
  expect(await query('SELECT outcome, price FROM all_recipient_outcomes ORDER BY request, position')).toEqual(
    [
      { outcome: 'delivered', price: '0.08' },
      { outcome: 'delivered', price: null },
      { outcome: 'undelivered', price: '0.05' },
      { outcome: 'undelivered', price: '0.02' },
    ],
  );
  expect(await booked()).toEqual({ delivered: 2, undelivered: 2, price: '0.15' });
  await expectCountsKept(pool, run);
});

test('a report that is read again after the fold, and says something else, changes its outcome, or deletes it', async () => {
  const { pool } = opened.ledger;
  const [run, named] = await sendTo(300, 1);
  await receiveReadings(
    pool,
    named.map((each) => aDelivery({ ...each, price: '0.1' })),
  );
  await applyAll();
  await foldAll(pool);
  expect(await booked()).toEqual({ delivered: 300, undelivered: 0, price: '30.0' });
  const [first] = await query('SELECT CAST(min(report_id) AS float8) AS report FROM inbox_calls');
  const parse = ({ report, body }: RawReport): ReportContent => {
    const delivery = JSON.parse(body.toString());
    const index = Number(report) - first.report;
    if (index % 100 === 7) return { kind: 'unreadable', why: 'no longer known' };
    // About another recipient.
    if (index % 100 === 8) return { ...delivery, ...named[index + 1] };
    return index % 100 === 9 ? { ...delivery, outcome: 'undelivered' } : delivery;
  };
  await requeueDeliveryReports(pool, { all: true }, new Date());
  while ((await applyReadings(pool, { parse })) > 0);
  await foldAll(pool);
  const found = await query('SELECT request, outcome FROM all_recipient_outcomes ORDER BY request');
  expect(found).toHaveLength(294);
  expect(found.map(({ request }) => request).filter((request) => [8, 9, 108, 109].includes(request))).toEqual(
    [],
  );
  expect(await booked()).toEqual({ delivered: 294, undelivered: 0, price: '29.4' });
  await expectCountsKept(pool, run);
});

test('two that fold, an applier and lost connections leave every outcome once', async () => {
  const { pool } = opened.ledger;
  const [run, named] = await sendTo(600, 3);
  const reports = named.flatMap((each, index) => [
    aDelivery({ ...each, outcome: index % 5 === 0 ? 'undelivered' : 'delivered' }),
    aDelivery({ ...each, outcome: index % 3 === 0 ? 'undelivered' : 'delivered', price: '0.1' }),
  ]);
  let over = false;
  const again = async (work: () => Promise<unknown>): Promise<void> => {
    while (!over) await work().catch(() => undefined);
  };
  const working = [again(() => foldAll(pool)), again(() => foldAll(pool)), again(applyAll), again(applyAll)];
  for (let next = 0; next < reports.length; next += 100) {
    await receiveReadings(pool, reports.slice(next, next + 100));
    await sleep(100);
    if (next % 300 === 0) await opened.breakConnections().catch(() => undefined);
  }
  await expect.poll(() => query('SELECT FROM waiting_reports'), { timeout: 30_000 }).toEqual([]);
  over = true;
  await Promise.all(working);
  await applyAll();
  await foldAll(pool);
  expect(await singles()).toBe(0);
  const found = await query(
    'SELECT outcome, price FROM all_recipient_outcomes WHERE run_id = $1 ORDER BY request, position',
    [run],
  );
  expect(found).toEqual(
    named.map((_, index) => ({
      outcome: index % 5 === 0 ? 'undelivered' : 'delivered',
      price: (index % 5 === 0) === (index % 3 === 0) ? '0.1' : null,
    })),
  );
  await expectCountsKept(pool, run);
});

test('an outcome is refused beside the folded one of the same recipient, as a process of 0.3.0 would write it', async () => {
  const { pool } = opened.ledger;
  const [run, [one, two]] = await sendTo(4, 2);
  await report({ ...one });
  await foldAll(pool);
  const insert = (position: number) =>
    query(
      `INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at, report_id)
       VALUES ($1, 1, $2, 'delivered', now(), 77) ON CONFLICT DO NOTHING`,
      [run, position],
    );
  await expect(insert(1)).rejects.toMatchObject({ code: '40001' });
  await insert(2);
  await report({ ...two, outcome: 'undelivered' });
  expect(await query('SELECT position, outcome FROM all_recipient_outcomes ORDER BY position')).toEqual([
    { position: 1, outcome: 'delivered' },
    { position: 2, outcome: 'delivered' },
  ]);
  await expectCountsKept(pool, run);
});

const later = (hours: number) => ({
  ...opened.context,
  now: () => new Date(Date.now() + hours * 3_600_000),
});

test('a slice is due when its reports are in, or when its first one is an hour old', async () => {
  const { pool } = opened.ledger;
  const [, [one, two]] = await sendTo(2, 1);
  await report({ ...one });
  const dueAfter = async (milliseconds: number) =>
    (await listUnfolded(pool, undefined, new Date(Date.now() - milliseconds), 10)).map(({ isDue }) => isDue);
  expect(await dueAfter(60_000)).toEqual([false]);
  expect(await dueAfter(-60_000)).toEqual([true]);
  const progress = startFolding();
  await foldSettledOutcomes(later(0.9), progress);
  expect(await singles()).toBe(1);
  await report({ ...two });
  await foldSettledOutcomes(later(0), progress);
  expect(await singles()).toBe(0);
});

test('what no block can hold keeps its row, and is found', async () => {
  const { pool } = opened.ledger;
  const [run, named] = await sendTo(4, 1);
  await receiveReadings(
    pool,
    named.map((each, index) =>
      aDelivery({
        ...each,
        sentAt: index === 1 ? '1999-12-31T23:59:59Z' : null,
        jobNumber: index === 2 ? 'A\tB' : 'AB',
      }),
    ),
  );
  await applyAll();
  await pool.query(`UPDATE recipient_outcomes SET outcome = 'cancelled', report_id = NULL WHERE request = 4`);
  const before = await outcomes();
  expect(await foldAll(pool)).toBe(1);
  expect(await outcomes()).toEqual(before);
  expect(await query('SELECT request FROM recipient_outcomes ORDER BY request')).toEqual([
    { request: 2 },
    { request: 3 },
    { request: 4 },
  ]);
  expect(await foldAll(pool)).toBe(0);
  expect(run).not.toBe('');
});

test('a purge after the fold leaves no word of the service, and late reports of its run count once', async () => {
  const { pool } = opened.ledger;
  const [run, named] = await sendTo(900, 1);
  const reports = named.map((each, index) =>
    aDelivery({
      ...each,
      result: `quotes ${index % 3}`,
      status: 'Xanthippe',
      jobNumber: 'J-77',
      price: '0.1',
    }),
  );
  await receiveReadings(
    pool,
    reports.filter((_, index) => index % 3 !== 1),
  );
  await applyAll();
  await foldAll(pool);
  await pool.query(
    `UPDATE runs SET purged_at = now(), purging = true, state = 'completed', finished_at = now() WHERE run_id = $1`,
    [run],
  );
  expect(await eraseRun(pool, run)).toEqual({ reports: 600, keptEnvelopes: false });
  expect(await query('SELECT FROM folded_reports')).toEqual([]);
  expect(await query(`SELECT words FROM run_counts WHERE CAST(words AS text) LIKE '%quotes%'`)).toEqual([]);
  expect(await query('SELECT FROM all_recipient_outcomes WHERE result IS NULL AND price = 0.1')).toHaveLength(
    600,
  );
  await expectCountsKept(pool, run);

  await receiveReadings(pool, reports);
  await applyAll();
  await foldAll(pool);
  expect(await singles()).toBe(0);
  const found = await query(
    'SELECT count(*)::integer AS outcomes, count(DISTINCT request)::integer AS requests, count(result)::integer AS words FROM all_recipient_outcomes',
  );
  expect(found).toEqual([{ outcomes: 900, requests: 900, words: 0 }]);
  expect(await booked()).toEqual({ delivered: 900, undelivered: 0, price: '90.0' });
  await expectCountsKept(pool, run);
});

test('what the recipients of a block share is in its row, where each of them finds it without another look-up', async () => {
  const { pool } = opened.ledger;
  const [, named] = await sendTo(400, 1);
  await receiveReadings(
    pool,
    named.map((each, index) =>
      aDelivery({ ...each, jobNumber: `JOB-${index}`, result: `result ${index % 40}` }),
    ),
  );
  await applyAll();
  await foldAll(pool);
  const isElsewhere = (columns: readonly string[]): string =>
    columns.map((column) => `pg_column_toast_chunk_id(${column}) IS NOT NULL`).join(' OR ');
  const inBlocks = ['outcomes', 'units', 'prices', 'places', 'reports', 'kinds', 'report_low'];
  expect(await query(`SELECT FROM folded_outcomes WHERE ${isElsewhere(inBlocks)}`)).toEqual([]);
  expect(
    await query(`SELECT FROM folded_reports WHERE ${isElsewhere(['results', 'statuses', 'words'])}`),
  ).toEqual([]);
});

test('parts of a slice that are folded by themselves, in parts of another size, share no request', async () => {
  const { pool } = opened.ledger;
  const [run, named] = await sendTo(700, 1);
  const reports = named.map((each) => aDelivery(each));
  for (const [remainder, step] of [
    [0, 130],
    [1, 1_000],
    [2, 33],
  ] as const) {
    await receiveReadings(
      pool,
      reports.filter((_, index) => index % 3 === remainder),
    );
    await applyAll();
    await foldOutcomes(pool, { run, first: 1, last: 700, step });
    expect(await singles()).toBe(0);
  }
  expect(await singles()).toBe(0);
  expect(await query('SELECT request FROM all_recipient_outcomes ORDER BY request')).toEqual(
    named.map((_, index) => ({ request: index + 1 })),
  );
  expect(
    await query(
      'SELECT FROM folded_outcomes a JOIN folded_outcomes b ON b.first_request > a.first_request AND b.first_request <= a.last_request',
    ),
  ).toEqual([]);
  await receiveReadings(pool, reports);
  await applyAll();
  await expectCountsKept(pool, run);
});

test('numbers at the limits of 32 bits, and at those of their halves, are read from a block as they were', async () => {
  const limits = [-32_768, -1, 0, 1, 32_767].flatMap((high) =>
    [0, 1, 32_767, 32_768, 65_535].map((low) => high * 65_536 + low),
  );
  const found = await query(
    'SELECT number_of(high_half(number), low_half(number)) AS number FROM unnest($1::bigint[]) AS number',
    [limits],
  );
  expect(found).toEqual(limits.map((number) => ({ number })));
});

test('outcomes that no block can hold are tried again after an hour, not each time', async () => {
  const [, [one, two]] = await sendTo(2, 1);
  await report({ ...one }, { ...two, sentAt: '1999-12-31T23:59:59Z' });
  const progress = startFolding();
  /** A fold locks the block. */
  const lockedBy = async () => {
    const [block] = await query('SELECT CAST(xmax AS text) AS lock FROM folded_outcomes');
    return block.lock;
  };
  await foldSettledOutcomes(later(2), progress);
  await foldSettledOutcomes(later(2), progress);
  const before = await lockedBy();
  await foldSettledOutcomes(later(2.9), progress);
  expect(await lockedBy()).toBe(before);
  await foldSettledOutcomes(later(3.1), progress);
  expect(await lockedBy()).not.toBe(before);
});

test('outcomes that are never folded are not listed: those that counts look up, and those without records', async () => {
  const { pool } = opened.ledger;
  const [run, [one]] = await sendTo(2, 1);
  await report({ ...one });
  const list = () => listUnfolded(pool, undefined, new Date(), 10);
  expect(await list()).toHaveLength(1);
  await pool.query('INSERT INTO early_proofs (run_id, request) VALUES ($1, 1)', [run]);
  expect(await list()).toEqual([]);
  await pool.query('DELETE FROM early_proofs');
  await pool.query('UPDATE runs SET records_deleted_at = now()');
  expect(await list()).toEqual([]);
});

test('a slice is found by its key, however many outcomes wait', async () => {
  // As a new ledger is known to Postgres until its tables are analysed.
  await query('VACUUM runs, early_proofs');
  const [run, [one]] = await sendTo(2, 1);
  await report({ ...one });
  const pool = new pg.Pool({ connectionString: opened.url, max: 1 });
  onTestFinished(() => pool.end());
  await pool.query(`
    SET session_replication_role = 'replica';
    INSERT INTO recipient_outcomes SELECT (o).*
    FROM (
      SELECT jsonb_populate_record(o, jsonb_build_object('request', number)) AS o
      FROM recipient_outcomes o CROSS JOIN generate_series(3, 20000) number
    ) rows;
    ANALYZE recipient_outcomes`);
  const rowsScanned = async () => {
    await pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ scanned: string }>(
      "SELECT seq_tup_read AS scanned FROM pg_stat_user_tables WHERE relname = 'recipient_outcomes'",
    );
    return Number(rows[0]?.scanned);
  };
  const before = await rowsScanned();
  expect(await listUnfolded(pool, { run: '', last: 0 }, new Date(), 2)).toMatchObject([
    { run, first: 1 },
    { run },
  ]);
  expect((await rowsScanned()) - before).toBe(0);
});

test('one call folds for some seconds, and the next goes on behind a slice that cannot be folded', async () => {
  const { pool } = opened.ledger;
  const runs: string[] = [];
  for (let count = 0; count < 3; count++) {
    const [run, [one]] = await sendTo(1, 1);
    runs.push(run);
    await report({ ...one });
  }
  runs.sort();
  let time = 0;
  const context = { ...opened.context, monotonic: () => (time += 10_000) };
  const left = async () =>
    (await query('SELECT run_id FROM recipient_outcomes ORDER BY run_id')).map(({ run_id }) => run_id);
  const progress = startFolding();
  await foldSettledOutcomes(context, progress);
  expect(await left()).toEqual(runs.slice(1));
  await pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON folded_outcomes
    FOR EACH ROW WHEN (NEW.run_id = '${runs[1]}') EXECUTE FUNCTION refuse();
  `);
  await expect(foldSettledOutcomes(context, progress)).rejects.toThrow('refused');
  // The failure has closed its session, which Postgres may see a moment later.
  await expect
    .poll(() =>
      query(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      ),
    )
    .toEqual([]);
  await foldSettledOutcomes(context, progress);
  await pool.query('DROP FUNCTION refuse CASCADE');
  expect(await left()).toEqual([runs[1]]);
});
