import { recordReopenedRequests } from '../billing/changes.ts';
import { reasonOf } from '../reasons.ts';
import { acceptanceOf } from '../request-rows.ts';
import type { Transaction } from '../session.ts';
import { type RequestKey, requestKeys } from './by-message-id.ts';

/** `isUntried`: the ledger knows of no attempt. */
type ProvenRequest = RequestKey & { readonly isUntried: boolean; readonly messageId: string };

/**
 * `in_doubt, planned → accepted`, because a delivery report or reply proves that the service has the request. A
 * planned one waits for a resend. For requests in flight or without an attempt, the proof is stored in case they come
 * into doubt.
 *
 * @returns newly proved requests
 */
export async function proveRequests(
  client: Transaction,
  requests: readonly RequestKey[],
): Promise<ProvenRequest[]> {
  await lockSlices(client, requests);
  return [...(await proveRows(client, requests)), ...(await storeEarlyProofs(client, requests))];
}

/** Transactions that add rows lock the slice too: either the next statements see the rows, or they see the proofs. */
async function lockSlices(client: Transaction, requests: readonly RequestKey[]): Promise<void> {
  await client.query(
    `
    SELECT
    FROM slices
    WHERE (run_id, slice) IN (
      SELECT p.run_id, c.slice
      FROM ${requestKeys.table('p')}
      CROSS JOIN LATERAL contents_between(p.run_id, p.request, p.request) AS c
    )
    ORDER BY run_id, slice
    FOR KEY SHARE
    `,
    requestKeys.values(requests),
  );
}

async function proveRows(client: Transaction, requests: readonly RequestKey[]): Promise<ProvenRequest[]> {
  const { rows } = await client.query<ProvenRequest>(
    `
    WITH proven AS MATERIALIZED (
      SELECT run_id, request, q.state, q.state = 'planned' AND q.attempts = 0 AND q.resends = 0 AS untried
      FROM requests q
      WHERE (run_id, request) IN (SELECT * FROM ${requestKeys.table('p')})
        AND (q.state IN ('in_doubt', 'planned') OR (q.state = 'sending' AND NOT q.reported))
      ORDER BY run_id, request
      FOR NO KEY UPDATE
    ), opened AS (
      ${recordReopenedRequests("(SELECT * FROM proven WHERE state = 'in_doubt')")}
    )
    UPDATE requests q
    SET reported = true,
        state = CASE WHEN q.state = 'sending' OR p.untried THEN q.state ELSE 'accepted' END,
        reason = CASE WHEN q.state = 'sending' OR p.untried THEN q.reason ELSE ${reasonOf('reported')} END
    FROM proven p
    JOIN runs r USING (run_id)
    WHERE q.run_id = p.run_id AND q.request = p.request
    RETURNING q.run_id AS run, q.request, p.untried AS "isUntried",
              message_id(r.run_number, r.message_key, q.request) AS "messageId"
    `,
    requestKeys.values(requests),
  );
  return rows;
}

/** Stores proofs of requests that have no row yet. */
async function storeEarlyProofs(
  client: Transaction,
  requests: readonly RequestKey[],
): Promise<ProvenRequest[]> {
  const { rows } = await client.query<ProvenRequest>(
    `
    WITH early AS MATERIALIZED (
      SELECT DISTINCT o.run_id, o.request, o.state
      FROM ${requestKeys.table('p')}
      CROSS JOIN LATERAL ordinary_requests_between(p.run_id, p.request, p.request) AS o
      WHERE o.state IN ('planned', 'sending')
    ), kept AS (
      INSERT INTO early_proofs (run_id, request)
      SELECT run_id, request
      FROM early
      ORDER BY run_id, request
      ON CONFLICT DO NOTHING
    )
    SELECT e.run_id AS run, e.request, e.state = 'planned' AS "isUntried",
           message_id(r.run_number, r.message_key, e.request) AS "messageId"
    FROM early e
    JOIN runs r USING (run_id)
    `,
    requestKeys.values(requests),
  );
  return rows;
}

/**
 * Records, for counts, which of the requests are not accepted although a delivery report has decided about their
 * recipients.
 */
export async function recordUnaccepted(client: Transaction, requests: readonly RequestKey[]): Promise<void> {
  await client.query(
    `
    INSERT INTO early_proofs (run_id, request)
    SELECT DISTINCT p.run_id, p.request
    FROM ${requestKeys.table('p')}
    JOIN ${acceptanceOf('p.run_id', 'p.request')} a ON NOT a.accepted
    ORDER BY p.run_id, p.request
    ON CONFLICT DO NOTHING
    `,
    requestKeys.values(requests),
  );
}
