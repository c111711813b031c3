import type { AccountShare } from '../../domain/account-sharing.ts';
import { batchOf } from '../batch.ts';
import { acceptanceOf } from '../request-rows.ts';
import type { RequestKey } from '../requests/by-message-id.ts';
import type { Transaction } from '../session.ts';
import { findByJobNumberOrPart } from './match-by-job-number.ts';
import {
  findNamedRequest,
  type MatchedRecipient,
  mayConcern,
  type NamedRequests,
  type ReportSubject,
  sharedColumns,
} from './matched-recipient.ts';

/**
 * Finds recipients of reports by MessageID and address, among messages of the account and of accounts with the same
 * webhook. Suppressed recipients never match. Addresses may differ in case and plus sign. The others are looked up by
 * job number, and in parts of divided requests.
 *
 * @returns by the index of the report
 */
export async function findRecipients(
  client: Transaction,
  reports: readonly ReportSubject[],
  requests: NamedRequests,
  webhooks: readonly AccountShare[],
): Promise<ReadonlyMap<number, MatchedRecipient>> {
  const found = await findByRequest(client, reports, requests, webhooks);
  const unmatched = reports.flatMap((report, index) => (found.has(index) ? [] : [{ report, index }]));
  if (unmatched.length === 0) return found;
  const elsewhere = await findByJobNumberOrPart(
    client,
    unmatched.map(({ report }) => report),
    requests,
    webhooks,
  );
  for (const [unmatchedIndex, recipient] of elsewhere) {
    const index = unmatched[unmatchedIndex]?.index;
    if (index !== undefined) found.set(index, recipient);
  }
  return found;
}

const subjects = batchOf<ReportSubject & RequestKey & { readonly index: number }>({
  index: ['integer', ({ index }) => index],
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  address: ['text', ({ address }) => address],
  account: ['text', ({ account }) => account],
});

async function findByRequest(
  client: Transaction,
  reports: readonly ReportSubject[],
  requests: NamedRequests,
  webhooks: readonly AccountShare[],
): Promise<Map<number, MatchedRecipient>> {
  const named = reports.flatMap((report, index) => {
    const request = findNamedRequest(report, requests);
    return request ? [{ ...report, ...request, index }] : [];
  });
  if (named.length === 0) return new Map();
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<Omit<MatchedRecipient, 'isProof'> & { readonly index: number }>(
    `
    SELECT f.index, f.run_id AS run, f.request, f.position, f.state, f.purged AS "isPurged"
    FROM (
      SELECT r.index, r.run_id, r.request, p.position, u.purged_at IS NOT NULL AS purged,
             CASE WHEN a.accepted THEN 'accepted'
                  ELSE (SELECT state FROM requests_between(r.run_id, r.request, r.request) LIMIT 1)
             END AS state
      FROM ${subjects.table('r', 3)}
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
    [...sharedColumns(webhooks), ...subjects.values(named)],
  );
  return new Map(rows.map(({ index, ...recipient }) => [index, { ...recipient, isProof: true }]));
}
