import { isDeepStrictEqual } from 'node:util';
import { Big } from 'big.js';
import type pg from 'pg';
import { bookBilling } from '../../src/engine/billing/billing.ts';
import type { EngineContext } from '../../src/engine/context.ts';
import { insertBillingSlices, recordFirstOutcomes } from '../../src/ledger/billing/changes.ts';
import { type BillingQuery, reportBilling } from '../../src/ledger/billing/report.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { contextOf } from '../support/ledger.ts';
import { grouped, printTable } from './printing.ts';
import { inRounds, median, sizeFrom, timed } from './rounds.ts';
import { createDatabase, startServer } from './servers.ts';

/** One run a night. */
const nights = 30;
const subAccounts = 200;
const chargeCodes = 2_000;
const chunkSize = 100;

/**
 * Measures the billing report of a month by SubAccount, Department and ChargeCode, against a GROUP BY over two plain
 * tables: with everything booked, and beside a run that is not booked yet. `BENCH_RECIPIENTS` (10,000,000) sets the
 * recipients and `BENCH_ROUNDS` (5) the rounds.
 */
export async function benchReport(): Promise<void> {
  const recipients = sizeFrom('BENCH_RECIPIENTS', 10_000_000);
  const rounds = sizeFrom('BENCH_ROUNDS', 5);
  await using server = await startServer();
  const ledger = await openLedger({ connectionString: await createDatabase(server, 'bench') }, 'bench');
  try {
    await benchLedger(contextOf(ledger), recipients, rounds);
  } finally {
    await ledger.close();
  }
}

async function benchLedger(context: EngineContext, recipients: number, rounds: number): Promise<void> {
  const { pool } = context.ledger;
  const perCode = recipientsPerCode(recipients);
  const { filling, booking } = await fillMonth(context, recipients);
  await fillPlain(pool);
  await sendRun(pool, nights + 1, Math.min(perCode, chunkSize));
  const [, ...times] = await inRounds(rounds + 1, async (round) => {
    // First the booked month, then until now, with an unbooked run.
    const groupBy = await timed(() => groupByReport(pool));
    const booked = await timed(() => billing(context, untilEnd));
    await reportSome(pool, round);
    const unbooked = await timed(() => billing(context, everything));
    if (round === 0) await expectEqual(context);
    return { groupBy, booked, unbooked };
  });
  const row = (name: string, of: 'groupBy' | 'booked' | 'unbooked', aim: string): string[] => {
    const ratio = median(times.map((each) => each.groupBy / each[of]));
    return [name, median(times.map((each) => each[of])).toFixed(0), ratio.toFixed(1), aim];
  };
  const { lines } = await billing(context, untilEnd);
  printTable(
    `report: ${grouped(perCode * chargeCodes * nights)} recipients, ${grouped(lines.length)} lines, median of ${rounds}`,
    ['', 'ms', 'ratio', 'aim'],
    [
      row('GROUP BY over plain tables', 'groupBy', ''),
      row('volley billing report', 'booked', '36'),
      row(`  with ${(rounds + 1) * 1_000} reports and a run that are not booked yet`, 'unbooked', ''),
    ],
  );
  console.log(`  filled in ${(filling / 1000).toFixed(0)} s, booked in ${(booking / 1000).toFixed(1)} s`);
}

const recipientsPerCode = (recipients: number): number => Math.ceil(recipients / nights / chargeCodes);

/** Fills an empty ledger with a month. @returns milliseconds to fill and to book it */
export async function fillMonth(
  context: EngineContext,
  recipients: number,
): Promise<{ readonly filling: number; readonly booking: number }> {
  const { pool } = context.ledger;
  const filling = await timed(async () => {
    for (let night = 1; night <= nights; night++) {
      await sendRun(pool, night, recipientsPerCode(recipients));
      await reportRun(pool, night);
    }
  });
  const booking = await timed(() => bookBilling(context));
  await pool.query('VACUUM ANALYZE');
  return { filling, booking };
}

const by = ['SubAccount', 'Department', 'ChargeCode'] as const;
const everything: BillingQuery = { by, from: '2026-11-01T00:00', until: null, timeZone: 'UTC', filter: {} };
/** The month of `fillMonth`. */
export const untilEnd: BillingQuery = { ...everything, until: '2026-12-01T00:00' };

export const billing = ({ ledger }: EngineContext, query: BillingQuery) =>
  inTransaction(ledger.pool, async (client) => reportBilling(client, query));

const beginOf = (night: number): string =>
  `timestamptz '2026-11-01T01:00Z' + interval '1 day' * ${night - 1}`;

/** Writes a run as dispatch leaves it, sent over two hours of its night. */
async function sendRun(pool: pg.Pool, night: number, perCode: number): Promise<void> {
  const run = `night-${night}`;
  const begin = beginOf(night);
  const chunks = Math.ceil(perCode / chunkSize);
  const requests = chunks * chargeCodes;
  await pool.query(`
    BEGIN;
    INSERT INTO runs (run_id, campaign, account, channel, state, definition, message_key, contacts_read, contacts_invalid,
                      contacts_duplicate, contacts_suppressed, created_at, rates)
    VALUES ('${run}', 'nightly', 'bench', 'sms', 'running', '{}', decode(md5('${run}'), 'hex'), 0, 0, 0, 0, ${begin},
            '{"currency":"NZD","tariffs":[[{"price":"0.08","tax":"0.15","from":null,"until":null}]]}');
    INSERT INTO envelopes (run_id, envelope, fields, sub_account, department, charge_code)
    SELECT '${run}', code, '{}', 'Sub ' || code % ${subAccounts}, NULL, 'C-' || code
    FROM generate_series(1, ${chargeCodes}) code;
    INSERT INTO slices (run_id, slice, first_request, last_request, claimed_to, claimed_at, state, settled)
    SELECT '${run}', (first - 1) / 1000 + 1, first, last, last, ${begin}, 'done', last - first + 1
    FROM generate_series(1, ${requests}, 1000) first
    CROSS JOIN LATERAL (SELECT least(first + 999, ${requests}) AS last) slice;
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses, parts)
    SELECT '${run}', request, request, (request - 1) / 1000 + 1, ARRAY[(request - 1) / ${chunks} + 1], ARRAY[recipients],
           array_fill(0, ARRAY[recipients]), ARRAY(SELECT generate_series(1, recipients)),
           ARRAY(SELECT generate_series(1, recipients)),
           ARRAY(SELECT '+6421' || (1000000 + p) FROM generate_series(1, recipients) p),
           array_fill(1, ARRAY[recipients])
    FROM generate_series(1, ${requests}) request
    CROSS JOIN LATERAL (
      SELECT least(${chunkSize}, ${perCode} - (request - 1) % ${chunks} * ${chunkSize}) AS recipients
    ) size;
    INSERT INTO slice_outcomes (run_id, slice, base_at, finished_ms, took_ms)
    SELECT '${run}', (request - 1) / 1000 + 1, ${begin},
           array_agg(CAST(request * 7200000::bigint / ${requests} AS integer) ORDER BY request), array_agg(5)
    FROM generate_series(1, ${requests}) request
    GROUP BY (request - 1) / 1000;
    COMMIT;
  `);
  await inTransaction(pool, (client) => insertBillingSlices(client, run));
}

/** Writes the outcomes of all recipients in batches, with 50 requests mixed in each. */
async function reportRun(pool: pg.Pool, night: number): Promise<void> {
  await pool.query(`
    WITH written AS (
      INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, units, price, reported_at)
      SELECT run_id, first_request, position, CASE WHEN position % 25 = 0 THEN 'undelivered' ELSE 'delivered' END, 'said',
             1, 0.08, ${beginOf(night)} + interval '3 hours'
      FROM contents, unnest(positions) position
      WHERE run_id = 'night-${night}'
      RETURNING run_id, request, position, outcome, units, price
    ), arrived AS (
      SELECT *, row_number() OVER (ORDER BY request / 50, position, request) / 500 AS batch FROM written
    ), of_request AS (
      SELECT batch, a.run_id, request, c.slice, c.envelopes[1] AS envelope,
             count(*) FILTER (WHERE outcome = 'delivered') AS delivered,
             count(*) FILTER (WHERE outcome = 'undelivered') AS undelivered, sum(units) AS units, sum(price) AS price
      FROM arrived a
      JOIN contents c ON c.run_id = a.run_id AND c.first_request = request
      GROUP BY 1, 2, 3, 4, 5
    )
    INSERT INTO billing_outcomes (run_id, requests, slices, envelopes, tariffs, delivered, undelivered, units, prices)
    SELECT run_id, array_agg(request), array_agg(slice), array_agg(envelope), array_agg(0), array_agg(delivered),
           array_agg(undelivered), array_agg(units), array_agg(price)
    FROM of_request
    GROUP BY run_id, batch
  `);
}

/** Fills the plain tables for the GROUP BY, one row for each request and recipient. */
async function fillPlain(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE plain_requests (
      request_id bigint PRIMARY KEY, sub_account text, department text, charge_code text, state text, sent_at timestamptz
    );
    CREATE TABLE plain_recipients (request_id bigint, outcome text, units numeric, price numeric);
    CREATE TEMPORARY TABLE numbered AS
    SELECT row_number() OVER () AS request_id, q.run_id, q.request, q.envelope, q.state, a.started_at AS sent_at
    FROM request_states q
    FULL JOIN all_attempts a ON a.run_id = q.run_id AND a.request = q.request AND a.attempt = q.attempts;
    ANALYZE numbered;
    INSERT INTO plain_requests
    SELECT request_id, sub_account, department, charge_code, state, sent_at
    FROM numbered
    JOIN envelopes USING (run_id, envelope);
    INSERT INTO plain_recipients
    SELECT request_id, outcome, units, price
    FROM numbered
    JOIN recipient_outcomes USING (run_id, request);
    DROP TABLE numbered;
  `);
  await pool.query('VACUUM ANALYZE plain_requests, plain_recipients');
}

/** A thousand unbooked outcomes of the last run. */
async function reportSome(pool: pg.Pool, round: number): Promise<void> {
  await pool.query(
    `
    WITH written AS (
      INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, units, price, reported_at)
      SELECT run_id, request, position, 'delivered', 'said', 1, 0.08, now()
      FROM recipients_between($1, 1, 1000)
      WHERE position = $2::integer + 1
      RETURNING run_id, request, outcome, units, price
    )
    ${recordFirstOutcomes(`
      SELECT w.*, c.slice, c.envelopes[1] AS envelope, 0 AS tariff
      FROM written w
      JOIN contents c ON c.run_id = w.run_id AND c.first_request = w.request`)}
    `,
    [`night-${nights + 1}`, round],
  );
}

type Plain = {
  readonly sub_account: string | null;
  readonly department: string | null;
  readonly charge_code: string | null;
  readonly requests: number;
  readonly accepted: number;
  readonly delivered: number;
  readonly undelivered: number;
  readonly units: string;
  readonly price: string;
};

/** The obvious query. */
async function groupByReport(pool: pg.Pool): Promise<Plain[]> {
  const { rows } = await pool.query<Plain>(`
    SELECT sub_account, department, charge_code, count(DISTINCT request_id)::float8 AS requests,
           count(*) FILTER (WHERE state = 'accepted')::float8 AS accepted,
           count(*) FILTER (WHERE outcome = 'delivered')::float8 AS delivered,
           count(*) FILTER (WHERE outcome = 'undelivered')::float8 AS undelivered,
           coalesce(sum(units), 0) AS units, coalesce(sum(price), 0) AS price
    FROM plain_requests
    JOIN plain_recipients USING (request_id)
    WHERE sent_at >= '2026-11-01T00:00Z' AND sent_at < '2026-12-01T00:00Z'
    GROUP BY sub_account, department, charge_code
  `);
  return rows;
}

/** Both results are equal, and the report includes the latest commit. */
async function expectEqual(context: EngineContext): Promise<void> {
  const plain = new Map(
    (await groupByReport(context.ledger.pool)).map((row) => [
      JSON.stringify([row.sub_account, row.department, row.charge_code]),
      [
        row.requests,
        row.accepted,
        row.delivered,
        row.undelivered,
        new Big(row.units).toFixed(2),
        new Big(row.price).toFixed(2),
      ],
    ]),
  );
  const { lines } = await billing(context, untilEnd);
  const ours = new Map(
    lines.map((line) => [
      JSON.stringify(line.values),
      [
        line.requests,
        line.accepted,
        line.delivered,
        line.undelivered,
        new Big(line.smsParts).toFixed(2),
        new Big(line.price).toFixed(2),
      ],
    ]),
  );
  if (!isDeepStrictEqual(plain, ours)) throw new Error('the report and the GROUP BY differ');
  const december = { ...everything, by: [], from: '2026-12-01T00:00' };
  const [total] = (await billing(context, december)).totals;
  if (total?.delivered !== 1_000)
    throw new Error(`${total?.delivered} of the 1,000 latest reports are counted`);
}
