import type pg from 'pg';
import {
  type RecipientCounts,
  type RequestState,
  type RunState,
  type RunSummary,
  recipientStates,
  requestStates,
} from '../../domain/runs.ts';
import { recipientStateOf } from './recipient-state.ts';

type DbSummaryRow = {
  readonly run_id: string;
  readonly campaign: string;
  readonly run_state: RunState;
  readonly contacts_read: number;
  readonly contacts_invalid: number;
  readonly contacts_duplicate: number;
  readonly contacts_suppressed: number;
  readonly state: RequestState | null;
  readonly requests: number;
  readonly recipients: number;
  readonly delivered: number;
  readonly undelivered: number;
  readonly cancelled: number;
};

/** Counts of a run by state, taken in one snapshot; undefined when there is no such run. */
export async function summariseRun(
  client: pg.Pool | pg.ClientBase,
  run: string,
): Promise<RunSummary | undefined> {
  const { rows } = await client.query<DbSummaryRow>(
    `
    WITH reported AS (
      SELECT request,
             count(*) FILTER (WHERE outcome = 'delivered') AS delivered,
             count(*) FILTER (WHERE outcome = 'undelivered') AS undelivered,
             count(*) FILTER (WHERE outcome = 'cancelled') AS cancelled
      FROM recipient_outcomes
      WHERE run_id = $1
      GROUP BY request
    ), counted AS (
      SELECT q.state, count(*) AS requests, sum(q.recipients) AS recipients,
             coalesce(sum(delivered), 0) AS delivered, coalesce(sum(undelivered), 0) AS undelivered,
             coalesce(sum(cancelled), 0) AS cancelled
      FROM request_states q
      LEFT JOIN reported USING (request)
      WHERE q.run_id = $1
      GROUP BY q.state
    )
    SELECT run_id, campaign, runs.state AS run_state, contacts_read, contacts_invalid, contacts_duplicate,
           contacts_suppressed, counted.state, coalesce(requests, 0)::integer AS requests,
           coalesce(recipients, 0)::integer AS recipients, coalesce(delivered, 0)::integer AS delivered,
           coalesce(undelivered, 0)::integer AS undelivered, coalesce(cancelled, 0)::integer AS cancelled
    FROM runs
    LEFT JOIN counted ON true
    WHERE run_id = $1
    `,
    [run],
  );
  const [first] = rows;
  return (
    first && {
      run: first.run_id,
      campaign: first.campaign,
      state: first.run_state,
      contacts: {
        read: first.contacts_read,
        invalid: first.contacts_invalid,
        duplicate: first.contacts_duplicate,
        suppressed: first.contacts_suppressed,
      },
      requests: countRequests(rows),
      recipients: countRecipients(rows),
    }
  );
}

function countRequests(rows: readonly DbSummaryRow[]): RunSummary['requests'] {
  const count = (state: RequestState): number => rows.find((row) => row.state === state)?.requests ?? 0;
  const total = rows.reduce((sum, { requests }) => sum + requests, 0);
  return { total, ...record(requestStates, count) };
}

function countRecipients(rows: readonly DbSummaryRow[]): RecipientCounts {
  const counts = record(recipientStates, () => 0);
  for (const { state, recipients, delivered, undelivered, cancelled } of rows) {
    if (state === null) continue;
    counts[recipientStateOf[state]] += recipients - delivered - undelivered - cancelled;
    counts.delivered += delivered;
    counts.undelivered += undelivered;
    counts.cancelled += cancelled;
  }
  return { total: rows.reduce((sum, { recipients }) => sum + recipients, 0), ...counts };
}

function record<Key extends string>(keys: readonly Key[], count: (key: Key) => number): Record<Key, number> {
  const result: Partial<Record<Key, number>> = {};
  for (const key of keys) result[key] = count(key);
  return result as Record<Key, number>;
}
