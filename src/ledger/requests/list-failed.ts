import type { RequestReason } from '../../domain/reasons.ts';
import { type FailedState, failedStates, type RequestState } from '../../domain/runs.ts';
import { requestReason, type Stored } from '../reasons.ts';
import { requestOf } from '../request-rows.ts';
import type { Connection, ReadConnection } from '../session.ts';

export type FailedRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly state: FailedState;
  /** The service's own words, or what happened instead of an answer. */
  readonly reason: RequestReason | null;
  /** Of the last answered attempt. */
  readonly httpStatus: number | null;
  readonly attempts: number;
  readonly firstAt: Date | null;
  /** When its last attempt ended, or began if the end is unknown. */
  readonly lastAt: Date | null;
  /** Without suppressed recipients; 0 for a divided request. */
  readonly recipients: number;
  readonly subAccount: string | null;
  readonly department: string | null;
  readonly chargeCode: string | null;
};

const requestsPerPage = 2_000;

/** Reads pages, each as the ledger is then: no request is in two of them. */
async function* readPages<Row extends { readonly request: number }>(
  read: (after: number) => Promise<Row[]>,
  pageSize: number,
  after: number,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let last = after; ; ) {
    const rows = await read(last);
    if (rows.length > 0) yield rows;
    if (rows.length < pageSize) return;
    last = rows.at(-1)?.request ?? 0;
  }
}

/** Reads all requests of the run that failed, which all have rows. */
export function streamFailedRequests(
  client: ReadConnection,
  run: string,
  pageSize = requestsPerPage,
): AsyncGenerator<readonly FailedRequest[], void, undefined> {
  const read = async (after: number): Promise<FailedRequest[]> => {
    const { rows } = await client.query<Stored<FailedRequest>>(
      `
      SELECT q.request, message_id(r.run_number, r.message_key, q.request) AS "messageId", q.state, q.reason, q.attempts,
             tried.http_status AS "httpStatus", tried.first_at AS "firstAt", tried.last_at AS "lastAt",
             q.recipients - q.suppressed AS recipients,
             e.sub_account AS "subAccount", e.department, e.charge_code AS "chargeCode"
      FROM (
        SELECT *
        FROM requests
        WHERE run_id = $1 AND request > $2 AND state = ANY ($3::text[])
        ORDER BY request
        LIMIT $4
      ) q
      JOIN runs r USING (run_id)
      JOIN envelopes e USING (run_id, envelope)
      CROSS JOIN LATERAL (
        SELECT min(started_at) AS first_at, max(coalesce(finished_at, started_at)) AS last_at,
               (array_agg(http_status ORDER BY attempt DESC) FILTER (WHERE http_status IS NOT NULL))[1] AS http_status
        FROM attempts_between(q.run_id, q.request, q.request)
      ) tried
      ORDER BY q.request
      `,
      [run, after, failedStates, pageSize],
    );
    return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
  };
  return readPages(read, pageSize, 0);
}

export type Doubt = Pick<FailedRequest, 'request' | 'messageId' | 'recipients' | 'reason' | 'attempts'> & {
  readonly since: Date | null;
};

/**
 * Reads requests in doubt, without their attempts.
 *
 * @param options `after`: the request before the first one
 */
export function listDoubts(
  client: Connection,
  run: string,
  requests: readonly number[] | 'all',
  { after: start = 0, pageSize = requestsPerPage } = {},
): AsyncGenerator<readonly Doubt[], void, undefined> {
  const read = async (after: number): Promise<Doubt[]> => {
    const { rows } = await client.query<Stored<Doubt>>(
      `
      SELECT q.request, message_id(r.run_number, r.message_key, q.request) AS "messageId",
             q.recipients - q.suppressed AS recipients, q.updated_at AS since, q.reason, q.attempts
      FROM runs r
      JOIN requests q USING (run_id)
      WHERE r.run_id = $1 AND q.request > $2 AND q.state = 'in_doubt'
        AND ($3::integer[] IS NULL OR q.request = ANY ($3))
      ORDER BY q.request
      LIMIT $4
      `,
      [run, after, requests === 'all' ? null : requests, pageSize],
    );
    return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
  };
  return readPages(read, pageSize, start);
}

/** SQL: as `FailureGroup.group`. */
export function failureGroup(request: string): string {
  return `failure_group(${request}.state, failure_words(${request}.state, ${request}.reason))`;
}

/** @param group as `FailureGroup.group` */
export async function listDoubtsOfGroup(client: Connection, run: string, group: string): Promise<number[]> {
  const { rows } = await client.query<{ request: number }>(
    `
    SELECT request
    FROM requests q
    WHERE run_id = $1 AND state = 'in_doubt' AND ${failureGroup('q')} = $2
    ORDER BY request
    `,
    [run, group],
  );
  return rows.map(({ request }) => request);
}

type FoundRequest = Pick<FailedRequest, 'request' | 'messageId' | 'reason'> & {
  readonly state: RequestState;
};

export async function findRequests(
  client: Connection,
  run: string,
  requests: readonly number[],
): Promise<FoundRequest[]> {
  const { rows } = await client.query<Stored<FoundRequest>>(
    `
    SELECT q.request, q.message_id AS "messageId", q.state, q.reason
    FROM (SELECT DISTINCT unnest($2::integer[]) AS request) named
    CROSS JOIN ${requestOf('$1', 'named.request')} q
    ORDER BY q.request
    `,
    [run, requests],
  );
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}
