import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { bookPending } from '../../src/ledger/billing/book.ts';
import type { Ledger } from '../../src/ledger/connection.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { acceptAll } from './accept-all.ts';
import { aContact, aRun, planContacts } from './ledger.ts';

/** Delivery reports of which the first to arrive must decide. */

type ReportBody = {
  readonly MessageID: string;
  readonly Destination: string;
  readonly Status: 'Success' | 'Failed';
  readonly Price?: string;
};

const account = 'main';
const addressOf = (index: number): string => `+614${String(index).padStart(8, '0')}`;

/** Returns the MessageID and address of each recipient. */
export async function planAcceptedRun(ledger: Ledger, recipients: number) {
  const contacts = Array.from({ length: recipients }, (_, index) =>
    aContact(index + 2, { address: addressOf(index) }),
  );
  const run = await planContacts(ledger, aRun({ account, chunkSize: 200 }), contacts);
  await acceptAll(ledger.pool, run);
  const { rows } = await ledger.pool.query<Pick<ReportBody, 'MessageID' | 'Destination'>>(
    `SELECT message_id AS "MessageID", address AS "Destination"
     FROM recipient_states WHERE run_id = $1
     ORDER BY request, position`,
    [run],
  );
  return rows;
}

/** Two delivery reports per recipient, and a third with another outcome for one in twenty; half have a price. */
export function shuffledReports(
  named: Awaited<ReturnType<typeof planAcceptedRun>>,
  seed: number,
): ReportBody[] {
  const reports = named.flatMap((name, index): ReportBody[] => {
    const failed = seededRandom('outcome', seed, index) < 0.1;
    const words = failed ? (['Failed', 'Success'] as const) : (['Success', 'Failed'] as const);
    const price = (of: string) =>
      seededRandom(of, seed, index) < 0.5 ? { Price: `0.${String(index % 97).padStart(2, '0')}1` } : {};
    return [
      { ...name, Status: words[0], ...price('first') },
      { ...name, Status: words[0], ...price('second') },
      ...(seededRandom('conflict', seed, index) < 0.05
        ? [{ ...name, Status: words[1], ...price('third') }]
        : []),
    ];
  });
  return reports
    .map((report, index) => ({ report, at: seededRandom('shuffled', seed, index) }))
    .sort((one, other) => one.at - other.at)
    .map(({ report }) => report);
}

/** Stores delivery reports in batches of different sizes. */
export async function receiveAll(
  ledger: Ledger,
  reports: readonly ReportBody[],
  seed: number,
): Promise<void> {
  for (let next = 0, batch = 0; next < reports.length; batch++) {
    const size = 1 + Math.floor(60 * seededRandom('size', seed, batch));
    const call = { account, method: 'POST', contentType: '', headers: {}, receivedAt: new Date() } as const;
    const bodies = reports
      .slice(next, next + size)
      .map((report) => JSON.stringify({ ...report, Type: 'SMS' }));
    await receiveDeliveryReports(
      ledger.pool,
      randomUUID(),
      bodies.map((body) => ({ ...call, body: Buffer.from(body) })),
    );
    next += size;
  }
}

/**
 * Expects that the first delivery report in the inbox decides each outcome, with the first price of that outcome,
 * and that the marks and billing agree.
 *
 * @returns the number of conflicting reports
 */
export async function expectFirstReportDecides({ pool }: Ledger): Promise<number> {
  const { rows: inbox } = await pool.query<{ report: string; body: Buffer }>(
    'SELECT report_id::text AS report, body FROM inbox_calls ORDER BY report_id',
  );
  const received = inbox.map(({ report, body }) => ({
    report,
    ...(JSON.parse(body.toString()) as ReportBody),
  }));
  const outcomes: object[] = [];
  const states: object[] = [];
  let thousandths = 0;
  for (const [address, reports] of Map.groupBy(received, ({ Destination }) => Destination)) {
    const [first] = reports;
    const equal = reports.filter(({ Status }) => Status === first?.Status);
    const price = equal.find(({ Price }) => Price !== undefined)?.Price ?? null;
    thousandths += Math.round(1_000 * Number(price ?? 0));
    const outcome = first?.Status === 'Success' ? 'delivered' : 'undelivered';
    outcomes.push({ address, outcome, price, report: first?.report });
    for (const each of reports) {
      const state = each === first ? 'applied' : equal.includes(each) ? 'unchanged' : 'conflicting';
      states.push({ report: each.report, state });
    }
  }
  const decided = await pool.query(
    `SELECT r.address, o.outcome, o.price::text AS price, o.report_id::text AS report
     FROM recipient_states r
     JOIN all_recipient_outcomes o USING (run_id, request, position)
     ORDER BY r.address`,
  );
  expect(decided.rows).toEqual(sorted(outcomes, 'address'));
  const kept = await pool.query('SELECT report_id::text AS report, state FROM delivery_reports');
  expect(sorted(kept.rows, 'report')).toEqual(sorted(states, 'report'));
  while (await bookPending(pool));
  const { rows: booked } = await pool.query(
    `SELECT sum(delivered + undelivered)::integer AS reported, (1000 * sum(price))::float8 AS thousandths
     FROM billing_entries`,
  );
  expect(booked).toEqual([{ reported: outcomes.length, thousandths }]);
  return states.filter((one) => 'state' in one && one.state === 'conflicting').length;
}

function sorted(rows: readonly object[], key: string): object[] {
  const text = (row: object): string => String(Object.entries(row).find(([name]) => name === key)?.[1]);
  return rows.toSorted((one, other) => (text(one) < text(other) ? -1 : 1));
}
