import type { RequestReason } from '../../domain/reasons.ts';
import { type RecipientState, requestStates } from '../../domain/runs.ts';
import { recipientStateOf } from '../counts/run-counts.ts';
import { reasonOf, requestReason, type Stored } from '../reasons.ts';
import { contactFileOf, recipientOf, requestOf } from '../request-rows.ts';
import { failureGroup } from '../requests/list-failed.ts';
import type { Connection } from '../session.ts';

/* Recipients of a run by their states, in pages. Each list has as many as `RunCounts` counts. */

export type RecipientPlace = { readonly request: number; readonly position: number };

export type ListedRecipient = RecipientPlace & {
  readonly state: RecipientState;
  /** In the words of the service; of an accepted recipient, the status of its last delivery report. */
  readonly reason: RequestReason | null;
  /** Since when it is in its state, as far as that is recorded. */
  readonly at: Date | null;
  readonly messageId: string;
  /** Null in a purged run. */
  readonly address: string | null;
  /** Counts lines from file to file. */
  readonly row: number;
  /** The name of its variant; null: the run has none, or it is purged. */
  readonly variant: string | null;
  /** Empty in a purged run. */
  readonly file: string;
  readonly line: number;
};

export type RecipientsOfRun = {
  readonly run: string;
  readonly states: readonly RecipientState[];
  /** As `FailureGroup.group` or `DeliveryResult.group` of these states; all if undefined. */
  readonly group?: string | undefined;
};

export type RecipientPage = {
  /** The last recipient of the page before. */
  readonly after?: RecipientPlace | undefined;
  readonly limit: number;
};

/**
 * Lists recipients in the order of their requests. Of a million outcomes, finding the only one with its words takes
 * 0.1 s.
 */
export async function listRecipients(
  client: Connection,
  { run, states, group }: RecipientsOfRun,
  { after = { request: 0, position: 0 }, limit }: RecipientPage,
): Promise<ListedRecipient[]> {
  const requests = requestStates.filter((state) => states.includes(recipientStateOf[state]));
  const range = [after.request, after.position, limit, group ?? null];
  if (states.every((state) => state === 'delivered' || state === 'undelivered'))
    return readRows(client, reported, [run, states, ...range]);
  if (states.every((state) => state === 'rejected' || state === 'failed' || state === 'unknown'))
    return readRows(client, notAccepted, [run, requests, ...range]);
  return readRows(client, bySlice, [run, states, after.request, after.position, limit, requests]);
}

/** Reads all of a list, each part as the ledger is then. */
export async function* streamRecipients(
  client: Connection,
  wanted: RecipientsOfRun,
  limit = 5_000,
): AsyncGenerator<readonly ListedRecipient[], void, undefined> {
  for (let after: ListedRecipient | undefined; ; ) {
    const found = await listRecipients(client, wanted, { after, limit });
    yield found;
    if (found.length < limit) return;
    after = found.at(-1);
  }
}

async function readRows(
  client: Connection,
  recipients: string,
  values: unknown[],
): Promise<ListedRecipient[]> {
  const { rows } = await client.query<Stored<ListedRecipient>>(withPlaces(recipients), values);
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}

/**
 * SQL: these recipients of the run $1, with MessageID, address and row. Where `at` is null, time and reason are those of
 * the request.
 */
function withPlaces(recipients: string): string {
  return `
    SELECT p.request, p.position, p.state, coalesce(p.at, q.updated_at) AS at,
           message_id(n.run_number, n.message_key, p.request) AS "messageId", r.address, r.line AS row,
           CASE WHEN v.variant IS NOT NULL THEN n.definition #>> ARRAY['variants', (v.variant - 1)::text, 'name'] END AS variant,
           coalesce(f.name, '') AS file, r.line - coalesce(f.lines_before, 0) AS line,
           CASE WHEN p.state <> 'accepted' THEN coalesce(p.reason, q.reason) ELSE (
             SELECT to_jsonb(k.status)
             FROM unusual_delivery_reports k
             WHERE k.run_id = $1 AND k.request = p.request AND k.position = p.position
             ORDER BY k.report_id DESC
             LIMIT 1
           ) END AS reason
    FROM (${recipients}
    ) p
    JOIN runs n ON n.run_id = $1
    CROSS JOIN ${recipientOf('$1', 'p.request', 'p.position')} r
    LEFT JOIN LATERAL (
      SELECT * FROM requests_between($1, p.request, p.request) WHERE p.at IS NULL LIMIT 1
    ) q ON true
    LEFT JOIN ${contactFileOf('$1', 'r.line')} f ON true
    LEFT JOIN LATERAL (
      SELECT variant FROM slices WHERE run_id = $1 AND first_request <= p.request ORDER BY first_request DESC LIMIT 1
    ) v ON true
    ORDER BY p.request, p.position`;
}

/** SQL: whether a request was never sent: what a delivery report says of its recipients does not decide about them. */
const isUnsent = (request: string): string =>
  `${request}.attempts = 0 AND ${request}.state IN ('planned', 'cancelled')`;

/** SQL: slices `s` of the run $1 from the request $3 on, in order and in parts of about 2,000 recipients. */
const partsOf = (slices: string): string => `(
        SELECT s.*, first, least(first + step - 1, s.last_request) AS last
        FROM (
          SELECT greatest(1, 2000 * sum(requests) / greatest(1, sum(recipients)))::integer AS step
          FROM run_counts
          WHERE run_id = $1 AND counted = 'all'
        ) average
        CROSS JOIN slices s
        CROSS JOIN LATERAL generate_series(greatest(s.first_request, $3), s.last_request, step) AS first
        WHERE s.run_id = $1 AND s.phase = 'sending' AND s.last_request >= $3 AND ${slices}
        ORDER BY first
        OFFSET 0
      )`;

/** SQL: recipients with a delivery report. The counts of words have those of unsent requests too. */
const reported = `
      SELECT o.request, o.position, o.outcome AS state, to_jsonb(o.result) AS reason, o.reported_at AS at
      FROM ${partsOf('true')} part
      CROSS JOIN LATERAL (
        SELECT *
        FROM recipient_outcomes_between($1, part.first, part.last) b
        WHERE b.outcome = ANY ($2::text[]) AND (b.request, b.position) > ($3, $4)
          AND CASE WHEN $6::text IS NOT NULL THEN result_group(b.result) = $6 ELSE NOT EXISTS (
            SELECT
            FROM early_proofs p
            CROSS JOIN ${requestOf('$1', 'p.request')} q
            WHERE p.run_id = $1 AND p.request = b.request AND ${isUnsent('q')}
          ) END
        ORDER BY b.request, b.position
        LIMIT $5
      ) o
      -- Part by part: the first ones may have enough.
      ORDER BY part.first, o.request, o.position
      LIMIT $5`;

/** SQL: the state of a recipient that follows its request. */
const stateOfRequest = (request: string): string =>
  `CASE ${request}.state ${requestStates.map((state) => `WHEN '${state}' THEN '${recipientStateOf[state]}'`).join(' ')} END`;

/**
 * SQL: recipients of requests in the states $2, which all have rows. The counts of words have those with a delivery
 * report too.
 */
const notAccepted = `
      SELECT q.request, r.position, ${stateOfRequest('q')} AS state, q.reason, q.updated_at AS at
      FROM requests q
      CROSS JOIN LATERAL (SELECT * FROM recipient_results_between($1, q.request, q.request) OFFSET 0) r
      WHERE q.run_id = $1 AND q.state = ANY ($2::text[]) AND ($6::text IS NULL OR ${failureGroup('q')} = $6)
        AND (r.outcome IS NULL OR $6::text IS NOT NULL AND r.outcome <> 'cancelled')
        AND q.request >= $3 AND (q.request > $3 OR r.position > $4)
      ORDER BY q.request, r.position
      LIMIT $5`;

/** SQL: whether a slice `s` may have recipients in the states $2, whose requests are in the states $6. */
const mayHaveThem = `
    CASE WHEN $2::text[] <@ '{pending,accepted,cancelled}' THEN
      'pending' = ANY ($2) AND s.state <> 'done'
      OR 'cancelled' = ANY ($2) AND s.claimed_to < s.last_request
        AND EXISTS (SELECT FROM runs r WHERE r.run_id = $1 AND r.state = 'cancelled')
      OR 'accepted' = ANY ($2) AND (
        coalesce((SELECT b.open FROM billing_slices b WHERE b.run_id = $1 AND b.slice = s.slice), true)
        OR EXISTS (SELECT FROM billing_reopened_requests n WHERE n.run_id = $1)
        -- What is billed counts reports on requests that are not accepted, too.
        OR EXISTS (
          SELECT FROM early_proofs p
          WHERE p.run_id = $1 AND p.request BETWEEN s.first_request AND s.last_request
        )
        OR (
          SELECT sum(e.accepted - e.delivered - e.undelivered)
          FROM billing_entries e
          WHERE e.run_id = $1 AND e.slice = s.slice
        ) > 0
      )
      OR EXISTS (
        SELECT FROM requests n
        WHERE n.run_id = $1 AND n.request BETWEEN s.first_request AND s.last_request AND n.state = ANY ($6::text[])
          AND n.state <> 'accepted'
      )
      OR 'cancelled' = ANY ($2) AND EXISTS (
        SELECT FROM recipient_outcomes n
        WHERE n.run_id = $1 AND n.request BETWEEN s.first_request AND s.last_request AND n.outcome = 'cancelled'
      )
    ELSE true END`;

/**
 * SQL: recipients in the states $2, whose requests are in the states $6. The state of each request is read at once, as
 * `acceptanceOf` reads that of one: `requests_between` takes 0.1 ms for each.
 */
const bySlice = `
      SELECT o.*
      FROM ${partsOf(mayHaveThem)} part
      CROSS JOIN LATERAL (
        SELECT r.state = 'cancelled' AS is_cancelled,
               part.state = 'done' OR EXISTS (
                 SELECT FROM slice_outcomes k WHERE k.run_id = $1 AND k.slice = part.slice
               ) AS is_settled,
               (
                 SELECT range_agg(int4range(n, n + 1))
                 FROM outcomes k
                 CROSS JOIN unnest(k.requests) AS n
                 WHERE k.run_id = $1 AND k.slice = part.slice
               ) AS accepted
        FROM runs r
        WHERE r.run_id = $1
        OFFSET 0
      ) a
      CROSS JOIN LATERAL (
        SELECT *
        FROM (
          SELECT r.request, r.position, coalesce(r.reported_at, q.updated_at) AS at,
                 CASE WHEN r.outcome = 'cancelled' OR r.outcome IS NOT NULL AND NOT (${isUnsent('q')}) THEN r.outcome
                      ELSE ${stateOfRequest('q')} END AS state,
                 CASE WHEN r.outcome = 'cancelled' THEN ${reasonOf('suppressed')}
                      WHEN r.outcome IS NULL THEN q.reason
                      ELSE to_jsonb(r.result) END AS reason
          FROM (
            SELECT *
            FROM recipient_results_between($1, part.first, part.last) each
            -- A reported recipient waits only if its request was never sent.
            WHERE each.outcome IS NULL OR NOT $2::text[] <@ '{pending,accepted}' OR each.request IN (
              SELECT p.request FROM early_proofs p WHERE p.run_id = $1
            )
            OFFSET 0
          ) r
          LEFT JOIN requests own ON own.run_id = $1 AND own.request = r.request
          CROSS JOIN LATERAL (
            SELECT coalesce(own.attempts, 0) AS attempts, own.reason, own.updated_at,
                   CASE WHEN own.state IS NOT NULL THEN own.state
                        WHEN r.request > part.claimed_to THEN CASE WHEN a.is_cancelled THEN 'cancelled' ELSE 'planned' END
                        WHEN a.is_settled OR a.accepted @> r.request THEN 'accepted'
                        ELSE 'sending' END AS state
          ) q
          OFFSET 0
        ) each
        WHERE state = ANY ($2::text[]) AND (request, position) > ($3, $4)
        ORDER BY request, position
        LIMIT $5
      ) o
      ORDER BY part.first, o.request, o.position
      LIMIT $5`;
