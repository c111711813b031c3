import {
  type RecipientCounts,
  type RecipientState,
  type RequestCounts,
  type RequestState,
  type RunState,
  recipientStates,
  requestStates,
} from '../../domain/runs.ts';
import { acceptanceOf } from '../request-rows.ts';
import type { Connection, ReadConnection } from '../session.ts';

/** The state of a recipient without an outcome of its own. */
export const recipientStateOf: Readonly<Record<RequestState, RecipientState>> = {
  planned: 'pending',
  sending: 'pending',
  accepted: 'accepted',
  rejected: 'rejected',
  failed: 'failed',
  in_doubt: 'unknown',
  cancelled: 'cancelled',
  abandoned: 'unknown',
};

/** Requests and recipients of a run. Both add up to their totals. */
export type RunCounts = {
  readonly state: RunState;
  readonly requests: RequestCounts;
  readonly recipients: RecipientCounts;
  /** Rejected requests whose recipients are in other requests now. */
  readonly divided: number;
  /** Recipients that were suppressed after planning. They are cancelled. */
  readonly suppressed: number;
  /** Recipients with a delivery report although their requests were never sent. They are pending or cancelled. */
  readonly reportedUnsent: number;
};

/** Counts requests that are neither planned, nor sending, nor cancelled with their run. */
export function countSettled({ state, requests }: RunCounts): number {
  const { total, planned, sending, cancelled } = requests;
  return total - planned - sending - (state === 'cancelled' ? cancelled : 0);
}

/** Counts requests that are settled and not accepted; of a divided one, its halves. */
export function countNotAccepted({ requests, divided }: RunCounts): number {
  const { rejected, failed, in_doubt: inDoubt, abandoned } = requests;
  return rejected - divided + failed + inDoubt + abandoned;
}

type CountRow = {
  readonly run: string;
  readonly state: RunState;
  /** Requests that were claimed, with or without a row; null: the run is completed, so all of them. */
  readonly claimed: number | null;
  /** Recipients of requests in flight that have no row, in a cancelled run; 0 in others. */
  readonly inFlight: number;
  /** By what is counted, as in `run_counts`. */
  readonly counted: Readonly<Record<string, { readonly requests: number; readonly recipients: number }>>;
  readonly unaccepted: readonly UnacceptedReports[];
};

/** Recipients with a delivery report, of requests in one state that is not accepted. */
type UnacceptedReports = {
  readonly state: RequestState;
  readonly isUnsent: boolean;
  readonly delivered: number;
  readonly undelivered: number;
};

/** Adds up what is counted (`run_counts`, `slices.accepted`): of a million requests, a few hundred rows. */
export async function readRunCounts(
  client: ReadConnection,
  runs: readonly string[],
): Promise<ReadonlyMap<string, RunCounts>> {
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows } = await client.query<CountRow>(statement, [runs]);
  return new Map(rows.map((row) => [row.run, toCounts(row)]));
}

/**
 * SQL: requests of a run that are not accepted, with how many of their recipients have a delivery report. `state` is
 * that of the row of the request, or null.
 */
export function unacceptedReports(run: string): string {
  return `(
    SELECT a.state, a.is_unclaimed, coalesce(a.is_unsent, a.is_unclaimed) AS is_unsent, o.delivered, o.undelivered
    FROM early_proofs p
    JOIN ${acceptanceOf('p.run_id', 'p.request')} a ON NOT a.accepted
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE outcome = 'delivered') AS delivered,
             count(*) FILTER (WHERE outcome = 'undelivered') AS undelivered
      FROM recipient_outcomes_between(p.run_id, p.request, p.request)
    ) o
    WHERE p.run_id = ${run}
  ) unaccepted`;
}

const statement = `
  SELECT r.run_id AS run, r.state, CASE WHEN r.state <> 'completed' THEN claimed.requests END AS claimed,
         -- A function, so that it is planned only when it is called.
         CASE r.state WHEN 'cancelled' THEN count_recipients_in_flight(r.run_id) ELSE 0 END AS "inFlight",
         coalesce(counts.counted, '{}') AS counted,
         coalesce(early.unaccepted, '[]') AS unaccepted
  FROM runs r
  CROSS JOIN LATERAL (
    -- A row after the last claim was not claimed with its slice. Only an owner adds one.
    SELECT coalesce(sum(s.claimed_to - s.first_request + 1 + CASE WHEN s.version > 0 AND s.claimed_to < s.last_request THEN (
             SELECT count(*)
             FROM requests q
             WHERE q.run_id = s.run_id AND q.request > s.claimed_to AND q.request <= s.last_request
           ) ELSE 0 END), 0)::integer AS requests
    FROM slices s
    WHERE s.run_id = r.run_id AND s.phase = 'sending' AND r.state <> 'completed'
  ) claimed
  LEFT JOIN LATERAL (
    SELECT json_object_agg(counted, json_build_object('requests', requests, 'recipients', recipients)) AS counted
    FROM (
      SELECT counted, sum(requests) AS requests, sum(recipients) AS recipients
      FROM (
        SELECT counted, requests, recipients FROM run_counts WHERE run_id = r.run_id
        UNION ALL
        SELECT 'accepted', accepted, accepted_recipients FROM slices WHERE run_id = r.run_id
      ) each
      GROUP BY counted
    ) c
  ) counts ON true
  LEFT JOIN LATERAL (
    SELECT json_agg(e) AS unaccepted
    FROM (
      SELECT coalesce(state, CASE WHEN is_unclaimed AND r.state = 'cancelled' THEN 'cancelled' ELSE 'planned' END) AS state,
             is_unsent AS "isUnsent", sum(delivered) AS delivered, sum(undelivered) AS undelivered
      FROM ${unacceptedReports('r.run_id')}
      GROUP BY 1, 2
    ) e
  ) early ON true
  WHERE r.run_id = ANY ($1)
`;

function toCounts({ state, claimed, inFlight, counted, unaccepted }: CountRow): RunCounts {
  const of = (key: string): { readonly requests: number; readonly recipients: number } =>
    counted[key] ?? { requests: 0, recipients: 0 };
  const all = of('all');
  const suppressed = of('suppressed').recipients;
  const divided = of('divided').requests;
  const inStates = (count: 'requests' | 'recipients'): Record<RequestState, number> =>
    record(requestStates, (each) => of(each)[count] + (each === 'rejected' ? of('divided')[count] : 0));
  const requests = inStates('requests');
  const sum = (counts: Readonly<Record<string, number>>): number =>
    Object.values(counts).reduce((total, count) => total + count, 0);
  // The others have no row: they are in flight, or not claimed.
  const known = sum(requests);
  const sending = claimed === null ? 0 : claimed - known;
  requests.sending += sending;
  const unclaimed = state === 'cancelled' ? 'cancelled' : 'planned';
  requests[unclaimed] += all.requests - known - sending;
  const ofStates = inStates('recipients');
  ofStates.sending += inFlight;
  ofStates[unclaimed] += all.recipients - suppressed - sum(ofStates);
  const recipients = record(recipientStates, () => 0);
  for (const each of requestStates) recipients[recipientStateOf[each]] += ofStates[each];
  recipients.cancelled += suppressed;
  const reported = { delivered: of('delivered').recipients, undelivered: of('undelivered').recipients };
  let reportedUnsent = 0;
  for (const { state: each, isUnsent, delivered, undelivered } of unaccepted) {
    if (isUnsent) {
      reported.delivered -= delivered;
      reported.undelivered -= undelivered;
      reportedUnsent += delivered + undelivered;
    } else {
      recipients[recipientStateOf[each]] -= delivered + undelivered;
      recipients.accepted += delivered + undelivered;
    }
  }
  recipients.accepted -= reported.delivered + reported.undelivered;
  return {
    state,
    requests: { total: all.requests, ...requests },
    recipients: { total: all.recipients, ...recipients, ...reported },
    divided,
    suppressed,
    reportedUnsent,
  };
}

function record<Key extends string>(keys: readonly Key[], value: (key: Key) => number): Record<Key, number> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<Key, number>;
}

/** Lists runs with requests in doubt, the newest first. */
export async function listRunsInDoubt(client: Connection, limit: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ run: string }>(
    `
    SELECT r.run_id AS run
    FROM runs r
    JOIN (
      SELECT run_id FROM run_counts WHERE counted = 'in_doubt' GROUP BY run_id HAVING sum(requests) > 0
    ) c USING (run_id)
    ORDER BY r.created_at DESC
    LIMIT $1
    `,
    [limit],
  );
  return rows.map(({ run }) => run);
}
