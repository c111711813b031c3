import { batchOf, toArrayParameter } from '../batch.ts';
import { recordFirstOutcomes } from '../billing/changes.ts';
import { acceptanceOf } from '../request-rows.ts';
import type { RequestKey } from '../requests/by-message-id.ts';
import type { Transaction } from '../session.ts';
import { isFolded } from './outcome-blocks.ts';
import { defaultUnits, isPriceOutlier, tariffClause } from './price-outliers.ts';
import {
  findNamedRequest,
  type NamedRequests,
  type ParsedQueuedReport,
  type ParsedReport,
} from './report-content.ts';

/**
 * Applies the ordinary reports of a batch in one statement, which writes only their outcomes. An ordinary report is
 * the first final one of its recipient, for the run's own account, with the MessageID of an accepted request and one
 * of its addresses.
 *
 * @returns the unapplied reports
 */
export async function applyOrdinary(
  client: Transaction,
  reports: readonly ParsedQueuedReport[],
  requests: NamedRequests,
): Promise<readonly ParsedQueuedReport[]> {
  const candidates = reports.flatMap((reading) => {
    if (!isOrdinary(reading)) return [];
    const request = findNamedRequest(reading, requests);
    return request ? [{ ...reading, ...request }] : [];
  });
  if (candidates.length === 0) return reports;
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<{ report: string }>(statement, [
    JSON.stringify(defaultUnits),
    ...reportColumns.values(candidates).map(toArrayParameter),
  ]);
  const unwritten = new Set(rows.map(({ report }) => report));
  if (unwritten.size === 0 && candidates.length === reports.length) return [];
  const written = new Set(candidates.flatMap(({ report }) => (unwritten.has(report) ? [] : [report])));
  return reports.filter(({ report }) => !written.has(report));
}

function isOrdinary(report: ParsedQueuedReport): report is ParsedQueuedReport & ParsedReport<'delivery'> {
  if (report.kind !== 'delivery' || report.reread) return false;
  return report.outcome !== 'pending' && !report.optedOut && report.parseProblem === null;
}

const reportColumns = batchOf<RequestKey & ParsedReport<'delivery'>>({
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  report_id: ['bigint', ({ report }) => report],
  account: ['text', ({ account }) => account],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  address: ['text', ({ address }) => address],
  outcome: ['text', ({ outcome }) => outcome],
  status: ['text', ({ status }) => status],
  result: ['text', ({ result }) => result],
  units: ['numeric', ({ units }) => units],
  price: ['numeric', ({ price }) => price],
  job_number: ['text', ({ jobNumber }) => jobNumber],
  sent_at: ['timestamptz', ({ sentAt }) => sentAt],
});

const statement = `
  WITH matched AS MATERIALIZED (
    SELECT r.*, c.slice, c.envelopes[r.request - c.first_request + 1] AS envelope, c.positions[p.index] AS position,
           coalesce(c.tariffs[p.index], 0) AS tariff, u.channel
    FROM ${reportColumns.table('r', 2)}
    JOIN runs u ON u.run_id = r.run_id AND u.account = r.account
    CROSS JOIN LATERAL (
      SELECT *
      FROM contents c
      WHERE c.run_id = r.run_id AND c.first_request <= r.request
      ORDER BY c.first_request DESC
      LIMIT 1
    ) c
    CROSS JOIN LATERAL (
      -- The request's first recipient; a single one is found at once.
      SELECT coalesce(
               array_position(c.request_offsets, CAST(least(r.request - c.first_request, 32767) AS smallint)), 1
             ) AS first
      OFFSET 0
    ) q
    CROSS JOIN LATERAL (
      -- Services omit the plus sign.
      SELECT coalesce(array_position(c.addresses, r.address, q.first),
                      array_position(c.addresses, '+' || r.address, q.first)) AS index
      OFFSET 0
    ) p
    JOIN ${acceptanceOf('r.run_id', 'r.request')} a ON a.accepted
    WHERE c.first_request + c.request_offsets[p.index] = r.request
      AND NOT ${isFolded('r.run_id', 'r.request', 'c.positions[p.index]')}
  ), ${tariffClause('matched')}, written AS (
    -- In key order, to avoid deadlocks.
    INSERT INTO recipient_outcomes
      (run_id, request, position, outcome, result, units, price, reported_at, report_id, status, job_number, sent_at)
    SELECT m.run_id, m.request, m.position, m.outcome, m.result, m.units, m.price, m.received_at, m.report_id, m.status,
           m.job_number, m.sent_at
    FROM matched m
    LEFT JOIN tariff t ON t.run_id = m.run_id AND t.tariff = m.tariff
    WHERE (${isPriceOutlier('t.rate', 'm', '$1')}) IS NOT TRUE
    ORDER BY m.run_id, m.request, m.position, m.report_id
    ON CONFLICT DO NOTHING
    RETURNING run_id, request, position, outcome, units, price, report_id
  ), recorded AS (${recordFirstOutcomes(`
      SELECT *
      FROM (
        -- A FULL JOIN is hashed; planned for one row, another join would be a nested loop.
        SELECT w.run_id, w.request, m.slice, m.envelope, m.tariff, w.outcome, w.units, w.price
        FROM written w
        FULL JOIN matched m USING (report_id)
        OFFSET 0
      ) both_sides
      WHERE run_id IS NOT NULL`)}
  )
  SELECT CAST(report_id AS text) AS report FROM unnest($4::bigint[]) report_id
  EXCEPT
  SELECT CAST(report_id AS text) FROM written
`;
