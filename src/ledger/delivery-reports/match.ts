import type { AccountShare } from '../../domain/account-sharing.ts';
import { batchOf, toArrayParameter } from '../batch.ts';
import { acceptanceOf, requestOf } from '../request-rows.ts';
import type { RequestKey } from '../requests/by-message-id.ts';
import type { Transaction } from '../session.ts';
import {
  type MatchedRecipient,
  mayConcern,
  type NamedRequests,
  type ReportSubject,
  sharedColumns,
} from './report-content.ts';

/** Recipients by the id of the report. */
type Found = Map<string, MatchedRecipient>;

/**
 * Finds recipients of reports by MessageID and address, among messages of the account and of accounts with the same
 * webhook. Suppressed recipients never match. Addresses may differ in case and plus sign. The others are looked up by
 * job number, and in parts of divided requests.
 */
export async function findRecipients(
  client: Transaction,
  reports: readonly ReportSubject[],
  requests: NamedRequests,
  webhooks: readonly AccountShare[],
): Promise<Found> {
  const subjects = reports.map(
    (subject): Subject => ({ ...subject, request: requests.get(subject.messageId ?? '') }),
  );
  const found = await findByRequest(client, subjects, webhooks);
  const unmatched = subjects.filter(({ report }) => !found.has(report));
  return new Map([...found, ...(await findByJobNumberOrPart(client, unmatched, webhooks))]);
}

/** `request`: that its MessageID names. */
type Subject = ReportSubject & { readonly request: RequestKey | undefined };

const subjectColumns = batchOf<Subject>({
  report_id: ['bigint', ({ report }) => report],
  message_id: ['text', ({ messageId }) => messageId],
  job_number: ['text', ({ jobNumber }) => jobNumber],
  account: ['text', ({ account }) => account],
  address: ['text', ({ address }) => address],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  run_id: ['text', ({ request }) => request?.run ?? null],
  request: ['integer', ({ request }) => request?.request ?? null],
});

async function findByRequest(
  client: Transaction,
  subjects: readonly Subject[],
  webhooks: readonly AccountShare[],
): Promise<Found> {
  const named = subjects.filter(({ request }) => request !== undefined);
  if (named.length === 0) return new Map();
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<MatchedRecipient & { readonly report: string }>(
    `
    SELECT CAST(f.report_id AS text) AS report, f.run_id AS run, f.request, f.position, f.state, true AS "isProof",
           f.purged AS "isPurged"
    FROM (
      SELECT r.report_id, r.run_id, r.request, p.position, u.purged_at IS NOT NULL AS purged,
             CASE WHEN a.accepted THEN 'accepted'
                  ELSE (SELECT state FROM requests_between(r.run_id, r.request, r.request) LIMIT 1)
             END AS state
      FROM ${subjectColumns.table('r', 3)}
      JOIN runs u ON u.run_id = r.run_id AND u.records_deleted_at IS NULL
        AND ${mayConcern('u.account', 'r.account', '$1', '$2')}
      CROSS JOIN LATERAL position_of(r.run_id, r.request, r.address) p
      CROSS JOIN ${acceptanceOf('r.run_id', 'r.request')} a
      OFFSET 0 -- computes the position once
    ) f
    LEFT JOIN LATERAL (
      SELECT outcome
      FROM recipient_outcomes
      WHERE run_id = f.run_id AND request = f.request AND position = f.position
      LIMIT 1
    ) o ON true
    WHERE f.position IS NOT NULL AND o.outcome IS DISTINCT FROM 'cancelled'
    `,
    [...sharedColumns(webhooks), ...subjectColumns.values(named).map(toArrayParameter)],
  );
  return new Map(rows.map(({ report, ...recipient }) => [report, recipient]));
}

/** Requests with the same job number: a service may reuse numbers after years. */
const maxRequestsPerNumber = 100;

/**
 * Finds recipients of reports without a matching MessageID:
 *
 * - by the service's job number, which may also stand in for the MessageID. Job numbers count within an account. Of
 *   several requests, the report belongs to the last one answered before it arrived.
 * - in the parts of a divided request. The report is about the whole, so it proves nothing about the part.
 */
async function findByJobNumberOrPart(
  client: Transaction,
  subjects: readonly Subject[],
  webhooks: readonly AccountShare[],
): Promise<Found> {
  if (subjects.length === 0) return new Map();
  // Looks up one key for one report at a time. Without the limits, a plan without statistics joins all requests of a
  // run: half a minute instead of 20 ms.
  const { rows } = await client.query<MatchedRecipient & { readonly report: string }>(
    `
    WITH RECURSIVE report AS MATERIALIZED (
      SELECT *
      FROM ${subjectColumns.table('report', 3)}
    ), by_message AS MATERIALIZED (
      SELECT r.report_id, q.run_id, q.request, interval '0' AS later, r.received_at AS answered_at
      FROM report r
      JOIN runs u ON u.run_id = r.run_id AND ${mayConcern('u.account', 'r.account', '$1', '$2')}
      JOIN ${requestOf('r.run_id', 'r.request')} q ON true
    ), named AS (
      SELECT *, true AS whole FROM by_message
      UNION ALL
      SELECT r.report_id, j.run_id, j.request, greatest(j.answered_at - r.received_at, interval '0'), j.answered_at, true
      FROM report r
      CROSS JOIN LATERAL (
        SELECT run_id, request, answered_at
        FROM job_numbers
        WHERE job_number = ANY (ARRAY[upper(r.job_number), upper(r.message_id)]) AND ${mayConcern('account', 'r.account', '$1', '$2')}
        ORDER BY job_number, account, run_id, request
        LIMIT ${maxRequestsPerNumber}
      ) j
      WHERE r.report_id NOT IN (SELECT report_id FROM by_message)
      UNION ALL
      SELECT n.report_id, n.run_id, part.request, n.later, n.answered_at, false
      FROM named n
      CROSS JOIN LATERAL (
        SELECT request FROM requests WHERE run_id = n.run_id AND divided_from = n.request ORDER BY request LIMIT 2
      ) part
    )
    SELECT DISTINCT ON (n.report_id) CAST(n.report_id AS text) AS report, n.run_id AS run, n.request, c.position,
           n.whole AS "isProof", c.state, c.purged AS "isPurged"
    FROM named n
    JOIN report r USING (report_id)
    CROSS JOIN LATERAL (
      SELECT q.state, p.position, u.purged_at IS NOT NULL AS purged
      FROM ${requestOf('n.run_id', 'n.request')} q
      JOIN runs u ON u.run_id = n.run_id AND u.records_deleted_at IS NULL
      CROSS JOIN LATERAL position_of(n.run_id, n.request, r.address) p
      LEFT JOIN recipient_outcomes o ON o.run_id = n.run_id AND o.request = n.request AND o.position = p.position
      WHERE p.position IS NOT NULL AND o.outcome IS DISTINCT FROM 'cancelled'
      LIMIT 1
    ) c
    ORDER BY n.report_id, n.later, n.answered_at DESC, n.run_id, n.request
    `,
    [...sharedColumns(webhooks), ...subjectColumns.values(subjects).map(toArrayParameter)],
  );
  return new Map(rows.map(({ report, ...recipient }) => [report, recipient]));
}
