import { batchOf, toArrayParameter } from '../batch.ts';
import { recordFirstOutcomes } from '../billing/changes.ts';
import { acceptanceOf } from '../request-rows.ts';
import { type RequestKey, requestKeys } from '../requests/by-message-id.ts';
import type { Transaction } from '../session.ts';
import { defaultUnits, isPriceOutlier, tariffClause } from './price-outliers.ts';
import type { NamedRequests, ParsedQueuedReport, ParsedReport } from './report-content.ts';

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
  const named = new Map<RequestKey, number>();
  const candidates = reports.flatMap((reading): Candidate[] => {
    if (!isOrdinary(reading)) return [];
    const request = requests.get(reading.messageId ?? '');
    if (request?.runAccount !== reading.account) return [];
    const number = named.get(request) ?? named.size + 1;
    named.set(request, number);
    return [{ reading, named: number }];
  });
  if (candidates.length === 0) return reports;
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<{ report: string }>(statement, [
    JSON.stringify(defaultUnits),
    ...[...requestKeys.values([...named.keys()]), ...reportColumns.values(candidates)].map(toArrayParameter),
  ]);
  const unwritten = new Set(rows.map(({ report }) => report));
  if (unwritten.size === 0 && candidates.length === reports.length) return [];
  const written = new Set(
    candidates.flatMap(({ reading: { report } }) => (unwritten.has(report) ? [] : [report])),
  );
  return reports.filter(({ report }) => !written.has(report));
}

/** `named`: the place of its request among the requests of the batch, from 1. */
type Candidate = { readonly reading: ParsedReport<'delivery'>; readonly named: number };

function isOrdinary(report: ParsedQueuedReport): report is ParsedQueuedReport & ParsedReport<'delivery'> {
  if (report.kind !== 'delivery' || report.reread) return false;
  return report.outcome !== 'pending' && !report.optedOut && report.parseProblem === null;
}

const reportColumns = batchOf<Candidate>({
  named: ['integer', ({ named }) => named],
  report_id: ['bigint', ({ reading }) => reading.report],
  received_at: ['timestamptz', ({ reading }) => reading.receivedAt],
  address: ['text', ({ reading }) => reading.address],
  outcome: ['text', ({ reading }) => reading.outcome],
  status: ['text', ({ reading }) => reading.status],
  result: ['text', ({ reading }) => reading.result],
  units: ['numeric', ({ reading }) => reading.units],
  price: ['numeric', ({ reading }) => reading.price],
  job_number: ['text', ({ reading }) => reading.jobNumber],
  sent_at: ['timestamptz', ({ reading }) => reading.sentAt],
});

/**
 * SQL: where the block of contents begins that may have the request. Of a range that is open at one end, an index scan
 * reads the rest of its page.
 */
const blockOf = `coalesce(${['BETWEEN q.request - 32 AND', 'BETWEEN q.request - 1024 AND', '<=']
  .map(
    (range) => `
      (SELECT max(first_request) FROM contents WHERE run_id = q.run_id AND first_request ${range} q.request)`,
  )
  .join(',')})`;

const statement = `
  WITH named AS MATERIALIZED (
    SELECT q.named, q.run_id, q.request, c.first_request, c.slice, f.first_request AS first_folded, f.stride, f.places
    FROM ${requestKeys.table('q', 2, 'named')}
    CROSS JOIN LATERAL (SELECT ${blockOf} AS first_request OFFSET 0) b
    CROSS JOIN LATERAL (
      SELECT slice, first_request FROM contents WHERE run_id = q.run_id AND first_request = b.first_request LIMIT 1
    ) c
    JOIN ${acceptanceOf('q.run_id', 'q.request', 'c.slice')} a ON a.accepted
    LEFT JOIN LATERAL (SELECT * FROM folded_block_of(q.run_id, q.request) LIMIT 1) f ON true
  ), block AS (
    -- Decompresses each array once.
    SELECT d.run_id, d.first_request, c.envelopes || '{}' AS envelopes, c.request_offsets || '{}' AS request_offsets,
           c.addresses || '{}' AS addresses, c.positions || '{}' AS positions, c.tariffs || '{}' AS tariffs
    FROM (SELECT DISTINCT run_id, first_request FROM named) d
    CROSS JOIN LATERAL (
      SELECT * FROM contents WHERE run_id = d.run_id AND first_request = d.first_request LIMIT 1
    ) c
    OFFSET 0
  ), matched AS MATERIALIZED (
    SELECT r.report_id, r.received_at, r.outcome, r.status, r.result, r.units, r.price, r.job_number, r.sent_at, r.run_id,
           r.request, r.slice, r.envelopes[r.request - r.first_request + 1] AS envelope, r.positions[p.index] AS position,
           coalesce(r.tariffs[p.index], 0) AS tariff
    FROM (
      -- A FULL JOIN is hashed; planned for few rows, another join would be a nested loop.
      SELECT r.*, n.run_id, n.request, n.first_request, n.slice, n.first_folded, n.stride, n.places, b.envelopes,
             b.request_offsets, b.addresses, b.positions, b.tariffs
      FROM ${reportColumns.table('r', 4)}
      FULL JOIN named n USING (named)
      FULL JOIN block b ON b.run_id = n.run_id AND b.first_request = n.first_request
      OFFSET 0
    ) r
    CROSS JOIN LATERAL (
      -- The request's first recipient; a single one is found at once.
      SELECT coalesce(
               array_position(r.request_offsets, CAST(least(r.request - r.first_request, 32767) AS smallint)), 1
             ) AS first
      OFFSET 0
    ) q
    CROSS JOIN LATERAL (
      -- Services omit the plus sign.
      SELECT coalesce(array_position(r.addresses, r.address, q.first),
                      array_position(r.addresses, '+' || r.address, q.first)) AS index
      OFFSET 0
    ) p
    WHERE r.first_request + r.request_offsets[p.index] = r.request
      AND is_in_block(r.first_folded, r.stride, r.places, r.request, r.positions[p.index]) IS NOT TRUE
  ), ${tariffClause('matched')}, written AS (
    -- In key order, to avoid deadlocks.
    INSERT INTO recipient_outcomes
      (run_id, request, position, outcome, result, units, price, reported_at, report_id, status, job_number, sent_at)
    SELECT m.run_id, m.request, m.position, m.outcome, m.result, m.units, m.price, m.received_at, m.report_id, m.status,
           m.job_number, m.sent_at
    FROM matched m
    LEFT JOIN tariff t ON t.run_id = m.run_id AND t.tariff = m.tariff
    WHERE (${isPriceOutlier('t', 'm', '$1')}) IS NOT TRUE
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
  SELECT CAST(report_id AS text) AS report FROM (SELECT unnest($5::bigint[]) AS report_id EXCEPT SELECT report_id FROM written) e
`;
