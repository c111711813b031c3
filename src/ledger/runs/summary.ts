import {
  type RecipientCounts,
  type RequestState,
  type RunKind,
  type RunState,
  type RunSummary,
  recipientStates,
  requestStates,
} from '../../domain/runs.ts';
import type { Connection } from '../session.ts';
import { recipientStateOf } from './recipient-state.ts';

type DbSummaryRow = {
  readonly run_id: string;
  readonly campaign: string;
  readonly kind: RunKind;
  readonly run_state: RunState;
  readonly contacts_read: number;
  readonly contacts_invalid: number;
  readonly contacts_duplicate: number;
  readonly contacts_suppressed: number;
  readonly contacts_beyond_limit: number | null;
  readonly state: RequestState | null;
  readonly requests: number;
  readonly recipients: number;
  readonly delivered: number;
  readonly undelivered: number;
  readonly cancelled: number;
  /** Of the whole run, in each row. */
  readonly reported_unsent: number;
};

/** Counts in one snapshot. Slices without claims, or settled, are counted as a whole. */
export async function summariseRun(client: Connection, run: string): Promise<RunSummary | undefined> {
  const { rows } = await client.query<DbSummaryRow>(summaryStatement, [run]);
  const [first] = rows;
  return (
    first && {
      run: first.run_id,
      campaign: first.campaign,
      kind: first.kind,
      state: first.run_state,
      contacts: {
        read: first.contacts_read,
        invalid: first.contacts_invalid,
        duplicate: first.contacts_duplicate,
        suppressed: first.contacts_suppressed,
        ...(first.contacts_beyond_limit === null ? {} : { beyondLimit: first.contacts_beyond_limit }),
      },
      requests: countRequests(rows),
      recipients: countRecipients(rows),
      ...(first.reported_unsent > 0 ? { reportedUnsent: first.reported_unsent } : {}),
    }
  );
}

/** SQL: slices, with their requests and recipients without rows. */
const slicesOfRun = `
  slice AS MATERIALIZED (
    SELECT s.slice, s.first_request, s.last_request,
           s.last_request - s.first_request + 1 - own.requests AS requests, planned.recipients - own.recipients AS recipients,
           CASE
             WHEN s.claimed_to < s.first_request THEN 'untouched'
             WHEN s.claimed_to = s.last_request AND EXISTS (
               SELECT FROM slice_outcomes k WHERE k.run_id = s.run_id AND k.slice = s.slice
             ) THEN 'settled'
             ELSE 'open'
           END AS kind
    FROM slices s
    CROSS JOIN LATERAL (
      SELECT count(*) AS requests, coalesce(sum(q.recipients), 0) AS recipients
      FROM requests q
      WHERE q.run_id = s.run_id AND q.request BETWEEN s.first_request AND s.last_request
    ) own
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(size), 0) AS recipients
      FROM contents c
      CROSS JOIN LATERAL unnest(c.sizes) AS size
      WHERE c.run_id = s.run_id AND c.first_request BETWEEN s.first_request AND s.last_request
    ) planned
    WHERE s.run_id = $1 AND s.phase = 'sending'
  )`;

/** SQL: counts by the state of requests. */
const countedByState = `
  single AS MATERIALIZED (
    -- Requests with rows, and those of partly settled slices.
    SELECT q.request, q.state, q.recipients, q.attempts = 0 AND q.state IN ('planned', 'cancelled') AS unsent
    FROM requests q
    WHERE q.run_id = $1
    UNION ALL
    SELECT o.request, o.state, o.recipients, o.state IN ('planned', 'cancelled')
    FROM slice s
    CROSS JOIN LATERAL ordinary_requests_between($1, s.first_request, s.last_request) o
    WHERE s.kind = 'open'
  ), untouched AS MATERIALIZED (
    SELECT range_agg(int4range(first_request, last_request, '[]')) AS ranges FROM slice WHERE kind = 'untouched'
  ), reported AS MATERIALIZED (
    -- Of a request that was never sent, a report changes no count. The rule of change-sums.ts.
    SELECT coalesce(l.state, 'accepted') AS state, count(*) FILTER (WHERE o.outcome = 'delivered' AND NOT n.unsent) AS delivered,
           count(*) FILTER (WHERE o.outcome = 'undelivered' AND NOT n.unsent) AS undelivered,
           count(*) FILTER (WHERE o.outcome = 'cancelled') AS cancelled,
           count(*) FILTER (WHERE o.outcome <> 'cancelled' AND n.unsent) AS unsent
    FROM recipient_outcomes o
    CROSS JOIN untouched u
    LEFT JOIN single l ON l.request = o.request
    CROSS JOIN LATERAL (SELECT coalesce(l.unsent, o.request <@ u.ranges, false) AS unsent) n
    WHERE o.run_id = $1
    GROUP BY 1
  ), counted AS (
    SELECT state, sum(requests) AS requests, sum(recipients) AS recipients, coalesce(sum(r.delivered), 0) AS delivered,
           coalesce(sum(r.undelivered), 0) AS undelivered, coalesce(sum(r.cancelled), 0) AS cancelled
    FROM (
      SELECT state, sum(requests) AS requests, sum(recipients) AS recipients
      FROM (
        SELECT state, 1 AS requests, recipients FROM single
        UNION ALL
        SELECT CASE
                 WHEN s.kind = 'settled' THEN 'accepted'
                 WHEN (SELECT state FROM runs WHERE run_id = $1) = 'cancelled' THEN 'cancelled'
                 ELSE 'planned'
               END, s.requests, s.recipients
        FROM slice s
        WHERE s.kind <> 'open'
      ) each
      GROUP BY state
    ) by_state
    LEFT JOIN reported r USING (state)
    GROUP BY state
    HAVING sum(requests) > 0
  )`;

const summaryStatement = `
  WITH ${slicesOfRun}, ${countedByState}
  SELECT run_id, campaign, kind, runs.state AS run_state, contacts_read, contacts_invalid, contacts_duplicate,
         contacts_suppressed, contacts_beyond_limit, counted.state, coalesce(requests, 0)::integer AS requests,
         coalesce(recipients, 0)::integer AS recipients, coalesce(delivered, 0)::integer AS delivered,
         coalesce(undelivered, 0)::integer AS undelivered, coalesce(cancelled, 0)::integer AS cancelled,
         (SELECT coalesce(sum(unsent), 0)::integer FROM reported) AS reported_unsent
  FROM runs
  LEFT JOIN counted ON true
  WHERE run_id = $1
`;

function countRequests(rows: readonly DbSummaryRow[]): RunSummary['requests'] {
  const count = (state: RequestState): number => rows.find((row) => row.state === state)?.requests ?? 0;
  const total = rows.reduce((sum, { requests }) => sum + requests, 0);
  return { total, ...countEach(requestStates, count) };
}

function countRecipients(rows: readonly DbSummaryRow[]): RecipientCounts {
  const counts = countEach(recipientStates, () => 0);
  for (const { state, recipients, delivered, undelivered, cancelled } of rows) {
    if (state === null) continue;
    counts[recipientStateOf[state]] += recipients - delivered - undelivered - cancelled;
    counts.delivered += delivered;
    counts.undelivered += undelivered;
    counts.cancelled += cancelled;
  }
  return { total: rows.reduce((sum, { recipients }) => sum + recipients, 0), ...counts };
}

function countEach<Key extends string>(
  keys: readonly Key[],
  count: (key: Key) => number,
): Record<Key, number> {
  const result: Partial<Record<Key, number>> = {};
  for (const key of keys) result[key] = count(key);
  return result as Record<Key, number>;
}
